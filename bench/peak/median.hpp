#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace simdattn::peak {

/// The middle of some values, of which there is one at least; the upper one when they are even.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace simdattn::peak
