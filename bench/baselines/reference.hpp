#pragma once
// The formula written down, as a contender: what the work costs without any of what this library
// does.

#include "simdattn/attention.hpp"

namespace simdattn::baseline {

/// Computes `tensors.output` by the naive scalar reference, in double, on one thread.
void run_reference(const AttentionTensors& tensors, const AttentionOptions& options);

} // namespace simdattn::baseline
