#pragma once
// A tensor that owns its memory, of any strides.

#include "differential/random.hpp"
#include "simdattn/tensor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace simdattn::differential {

using Sizes = std::array<std::int64_t, 4>;

/// How one tensor lies in memory.
struct Strides {
  Sizes stride{};
  std::int64_t margin = 0; ///< elements before and behind it that belong to nobody
};

enum class Use { input, output };
/// Any layout that callers use, and some that they don't: bhsd, bshd, any order of the axes, gaps
/// behind every axis, an innermost stride above 1, and for inputs a stride of 0 along some axes.
Strides draw_strides(Random& random, const Sizes& size, Use use);
/// "2x3x5x8 by 120,40,8,1".
std::string text_of(const Sizes& size, const Strides& strides);

/// body(b, h, i, d) for every element, the last index first.
template <class Body>
void for_each_index(const Sizes& size, Body&& body) {
  for (std::int64_t b = 0; b < size[0]; ++b)
    for (std::int64_t h = 0; h < size[1]; ++h)
      for (std::int64_t i = 0; i < size[2]; ++i)
        for (std::int64_t d = 0; d < size[3]; ++d)
          body(b, h, i, d);
}

/// What memory holds that nobody has written: for floats a NaN that no arithmetic makes.
template <class T>
T untouched() noexcept;
template <>
inline float untouched() noexcept {
  return std::bit_cast<float>(0x7fc0beefu);
}
template <>
inline bool untouched() noexcept {
  return true;
}
template <>
inline std::int64_t untouched() noexcept {
  return std::numeric_limits<std::int64_t>::min();
}
template <>
inline Float16 untouched() noexcept {
  return {0x7e5a};
}
template <>
inline BFloat16 untouched() noexcept {
  return {0x7fda};
}
inline bool is_untouched(float value) noexcept {
  return std::bit_cast<std::uint32_t>(value) == 0x7fc0beefu;
}

/// All of its memory is untouched at first. The memory is exactly as large as the tensor and its
/// margins, so that a sanitizer sees what is accessed beyond them.
template <class T>
class StridedMemory {
public:
  StridedMemory() = default; ///< absent
  StridedMemory(const Sizes& size, const Strides& strides) : size_(size), strides_(strides) {
    std::int64_t extent = 1;
    for (int axis = 0; axis < 4; ++axis)
      extent += (size[axis] - 1) * strides.stride[axis];
    if (std::find(size.begin(), size.end(), 0) != size.end()) extent = 0;
    count_ = extent + 2 * strides.margin;
    memory_ = std::make_unique<T[]>(static_cast<std::size_t>(count_));
    std::fill_n(memory_.get(), count_, untouched<T>());
  }

  bool present() const noexcept { return memory_ != nullptr; }
  const Sizes& size() const noexcept { return size_; }
  const Strides& strides() const noexcept { return strides_; }
  /// Whether two elements share memory: then one can't be changed alone.
  bool repeats() const noexcept {
    for (int axis = 0; axis < 4; ++axis)
      if (strides_.stride[axis] == 0 && size_[axis] > 1) return true;
    return false;
  }

  T& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t d) noexcept {
    return data()[offset(b, h, i, d)];
  }
  T at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t d) const noexcept {
    return data()[offset(b, h, i, d)];
  }
  /// Element = make() for each.
  template <class Make>
  void fill(Make&& make) {
    for_each_index(size_, [&](auto b, auto h, auto i, auto d) { at(b, h, i, d) = make(); });
  }

  /// The view of it; absent without memory.
  TensorView input() const noexcept { return view<const T>(); }
  MutableTensorView output() noexcept { return view<T>(); }

  /// Makes all of it untouched again.
  void reset() { std::fill_n(memory_.get(), count_, untouched<T>()); }
  /// Whether everything outside the tensor is untouched.
  bool surroundings_untouched() const {
    std::vector<bool> inside(static_cast<std::size_t>(count_));
    for_each_index(size_, [&](auto b, auto h, auto i, auto d) {
      inside[static_cast<std::size_t>(strides_.margin + offset(b, h, i, d))] = true;
    });
    for (std::size_t n = 0; n < inside.size(); ++n)
      if (!inside[n] && !is_untouched(memory_[n])) return false;
    return true;
  }

private:
  std::int64_t offset(std::int64_t b, std::int64_t h, std::int64_t i,
                      std::int64_t d) const noexcept {
    const Sizes& stride = strides_.stride;
    return b * stride[0] + h * stride[1] + i * stride[2] + d * stride[3];
  }
  T* data() const noexcept { return memory_.get() + strides_.margin; }
  template <class Element>
  auto view() const noexcept {
    if (!present()) return decltype(bhsd<Element>(nullptr, 0, 0, 0, 0)){};
    const Sizes& stride = strides_.stride;
    return strided<Element>(data(), size_[0], size_[1], size_[2], size_[3], stride[0], stride[1],
                            stride[2], stride[3]);
  }

  Sizes size_{};
  Strides strides_;
  std::int64_t count_ = 0;
  std::unique_ptr<T[]> memory_;
};

} // namespace simdattn::differential
