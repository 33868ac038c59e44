#pragma once
// Time and arithmetic of attention calls.

#include "simdattn/attention.hpp"

#include <cstdint>
#include <functional>

namespace simdattn::command {

/// The median time of `count` calls, in seconds. Stops early, after one call at least, when
/// `budget_seconds` are spent.
struct Timing {
  double median_seconds = 0;
  int count = 0;
};
Timing measure(const std::function<void()>& call, int count, double budget_seconds);

/// The operations that softmax(scale · Q Kᵀ) V needs: a multiplication and an addition for each
/// visible pair of query and key and each of the D + Dv dims.
double attention_flops(const AttentionTensors& tensors, const AttentionOptions& options);

} // namespace simdattn::command
