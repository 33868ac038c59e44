#pragma once
// A result of the library held against the reference.

#include "simdattn/attention.hpp"

#include <string>
#include <vector>

namespace simdattn::command {

/// How far one output of a call is from the reference, at the element that uses most of its
/// tolerance.
struct Deviation {
  const char* tensor = ""; ///< "output", "weights", "lse"
  double actual = 0;
  double expected = 0;
  double difference =
      0; ///< infinite where only one side is NaN, or the sides are different infinities
  double tolerance = 0;
  double used =
      0; ///< difference / tolerance; 0 without a difference, infinite when that is infinite
  std::string
      place{}; ///< "[batch 0, head 3, query 17, column 5]"; empty when the tensor has no elements

  bool within() const noexcept { return used <= 1; }
};

/// Compares every output that `tensors` has; all of them are f32. Works head by head, so that the
/// reference's memory stays at that of one head.
std::vector<Deviation> verify(const AttentionTensors& tensors, const AttentionOptions& options);

/// One line for each deviation, and whether all are within their tolerance.
bool print_deviations(const std::vector<Deviation>& deviations);

} // namespace simdattn::command
