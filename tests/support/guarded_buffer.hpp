#pragma once
// Memory between two pages that may not be touched, so that one byte read or written too far is a
// crash.

#include <cstddef>

namespace simdattn::test {

/// Which guard page the buffer lies flush against.
enum class Placement { front, back };

class GuardedBuffer {
public:
  GuardedBuffer(std::size_t bytes, Placement placement);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;

  /// The first of size() bytes; never null, even when that is 0.
  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }

private:
  std::byte* pages_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace simdattn::test
