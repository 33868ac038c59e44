#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace simdattn::bench {

/// Floats that start at a cache line, so that figures don't depend on where an allocation fell.
class Buffer {
public:
  explicit Buffer(std::int64_t count)
      : count_(static_cast<std::size_t>(count)), data_(allocate(count_)) {}
  float* data() noexcept { return data_.get(); }
  const float* data() const noexcept { return data_.get(); }
  std::size_t count() const noexcept { return count_; }

private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(float* data) const noexcept { ::operator delete[](data, alignment); }
  };
  static float* allocate(std::size_t count) {
    return static_cast<float*>(::operator new[](count * sizeof(float), alignment));
  }
  std::size_t count_;
  std::unique_ptr<float, Free> data_;
};

} // namespace simdattn::bench
