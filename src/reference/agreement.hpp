#pragma once
// When a result is what the oracle says.

#include <cmath>

namespace simdattn::reference {

/// Whether `actual` is within `tolerance` of `expected`. NaN and infinities agree with themselves
/// alone.
inline bool agrees(float actual, double expected, double tolerance) noexcept {
  if (std::isnan(expected)) return std::isnan(actual);
  if (!std::isfinite(expected) || !std::isfinite(actual)) return actual == expected;
  return std::abs(static_cast<double>(actual) - expected) <= tolerance;
}

/// The same for an element of the output, where an infinity agrees with anything that is not
/// finite: an infinity of V times a weight that f32 rounds to 0 is NaN.
inline bool output_agrees(float actual, double expected, double tolerance) noexcept {
  return std::isinf(expected) ? !std::isfinite(actual) : agrees(actual, expected, tolerance);
}

} // namespace simdattn::reference
