#pragma once
// The oracle: attention by the formula alone, naive, scalar, in double. Kept apart from the
// kernels, which share no code with it. Linked by tests, tools and benchmarks; not part of the
// library.

#include "simdattn/attention.hpp"

#include <vector>

namespace simdattn::reference {

/// Dense results in [batch, heads, seq, …] order.
struct Expected {
  std::vector<double> output;  ///< [B, Hq, Lq, Dv]
  std::vector<double> lse;     ///< [B, Hq, Lq]
  std::vector<double> weights; ///< [B, Hq, Lq, Lkv]
  std::vector<double> scores;  ///< [B, Hq, Lq, Lkv]; −inf where a key is excluded
};

/// Rounding of one call that any correct f32 implementation may show: docs/numerics.md derives it.
struct Tolerance {
  double output = 0;  ///< |error| of an output element
  double weights = 0; ///< |error| of a weight
  double scores = 0;  ///< |error| of a score
  double lse_base = 0;
  /// |error| of a log-sum-exp of that value.
  double lse(double value) const noexcept;
};

/// Computes every result of a call; `tensors.output`, `lse` and `weights` are not looked at. The
/// arguments must be ones that the library accepts.
Expected attention(const AttentionTensors& tensors, const AttentionOptions& options);

/// The bound for the same call. NaN and infinities in the tensors, and keys that no query sees,
/// don't count.
Tolerance tolerance(const AttentionTensors& tensors, const AttentionOptions& options);

/// The softmax along the last axis of [B, H, Lq, Lkv], dense in the same order.
std::vector<double> softmax(const TensorView& scores);

/// weights · V, a plain product: [B, Hq, Lq, Lkv] and [B, Hkv, Lkv, Dv] → dense [B, Hq, Lq, Dv].
std::vector<double> weighted_sum(const TensorView& weights, const TensorView& value);

} // namespace simdattn::reference
