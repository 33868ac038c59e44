#pragma once
// When a result is what the oracle says.

#include <cmath>

namespace simdattn::reference {

/// Whether `actual` is within `tolerance` of `expected`; a tolerance of 0 asks for equality. NaN
/// asks for NaN, and an infinity for itself where the tolerance is 0, else for anything that is not
/// finite: an infinity of V times a weight that f32 rounds to 0 is NaN. NaN or infinite on one side
/// only never agrees.
inline bool agrees(float actual, double expected, double tolerance) noexcept {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return tolerance == 0 ? actual == expected : !std::isfinite(actual);
  return std::abs(static_cast<double>(actual) - expected) <= tolerance;
}

} // namespace simdattn::reference
