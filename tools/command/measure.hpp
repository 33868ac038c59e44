#pragma once
// Time and arithmetic of attention calls.

#include "simdattn/attention.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace simdattn::command {

struct Timing {
  double median_seconds = 0;
  int count = 0;
};

/// Times `call` up to `count` times, once at least, until `budget_seconds` are spent. `after` gets
/// the seconds of each call when it has ended, outside of the time.
Timing measure(const std::function<void()>& call, int count, double budget_seconds,
               const std::function<void(double)>& after = {});

/// The middle one of some numbers, the upper one of two; there must be one.
double median(std::vector<double> numbers);

/// The operations that softmax(scale · Q Kᵀ) V needs: a multiplication and an addition for each
/// visible pair of query and key and each of the D + Dv dims.
double attention_flops(const AttentionTensors& tensors, const AttentionOptions& options);

} // namespace simdattn::command
