#pragma once
// The oracle: attention by the formula alone, naive, scalar, in double. Kept apart from the
// kernels, which share no code with it. Linked by tests, tools and benchmarks; not part of the
// library.

#include "simdattn/staged.hpp"

#include <vector>

namespace simdattn::reference {

/// Dense results in [batch, heads, seq, …] order; of a ragged batch in [1, heads, tokens, …] order.
/// `columns` is Lkv, or the keys of the longest sequence: what a shorter one lacks is excluded.
struct Expected {
  std::vector<double> output;  ///< [B, Hq, Lq, Dv]
  std::vector<double> lse;     ///< [B, Hq, Lq]
  std::vector<double> weights; ///< [B, Hq, Lq, columns]
  std::vector<double> scores; ///< [B, Hq, Lq, columns], as the softmax takes them; −inf: excluded
};

/// Rounding that any correct f32 implementation may show.
struct Bounds {
  double output = 0;  ///< |error| of an output element
  double weights = 0; ///< |error| of a weight
  double scores = 0;  ///< |error| of a score
  double lse_base = 0;
  /// |error| of a log-sum-exp of that value.
  double lse(double value) const noexcept;
};

/// The bounds of a whole call, and beside them those of each row, in the order of Expected::lse: a
/// row where a mask drowns the scores has large ones, and the others don't. A row that sees no key
/// has output and weights of exactly 0. tolerance.cpp derives them.
struct Tolerance : Bounds {
  std::vector<Bounds> rows;
};

/// Computes every result of a call; `tensors.output`, `lse` and `weights` are not looked at. The
/// arguments must be ones that the library accepts. A score modifier is called on whole rows of one
/// query.
Expected attention(const AttentionTensors& tensors, const AttentionOptions& options);

/// The bounds of the same call. NaN and infinities in the tensors, and keys that no query sees,
/// don't count.
Tolerance tolerance(const AttentionTensors& tensors, const AttentionOptions& options);
/// The same, when attention() was computed already.
Tolerance tolerance(const AttentionTensors& tensors, const AttentionOptions& options,
                    const Expected& expected);

/// Scores at one stage, [B, Hq, Lq, columns], and what each may be off by. Before the last stage
/// excluded keys have a score like others; −inf stands only where a ragged sequence has no key.
struct Scores {
  std::vector<double> values;
  std::vector<double> errors;
};
Scores scores(const AttentionTensors& tensors, const AttentionOptions& options, ScoreStage stage);

/// The softmax along the last axis of [B, H, Lq, Lkv], dense in the same order.
std::vector<double> softmax(const TensorView& scores);

/// weights · V, a plain product: [B, Hq, Lq, Lkv] and [B, Hkv, Lkv, Dv] → dense [B, Hq, Lq, Dv].
std::vector<double> weighted_sum(const TensorView& weights, const TensorView& value);

} // namespace simdattn::reference
