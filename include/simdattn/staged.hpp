#pragma once
/// @file
/// The formula step by step, each intermediate tensor in memory, by the same tiles as the fused
/// call: scores → softmax → weighted sum. For learning, and for looking inside; the fused call is
/// faster.
///
/// All three use Context like scaled_dot_product_attention(), but they
/// allocate their own scratch and ignore a workspace.

#include "simdattn/attention.hpp"

namespace simdattn {

/// How far a score has come, in the order of AttentionOptions.
enum class ScoreStage : std::uint8_t {
  raw,    ///< scale · q·k
  capped, ///< after the softcap
  masked, ///< after ALiBi, modifier and mask, −inf where a key is excluded: what the softmax takes
};

/// scores = scale · Q Kᵀ: [B, Hq, Lq, D] and [B, Hkv, Lkv, D] → [B, Hq, Lq, Lkv]. Keys that
/// options.causal or a window hides have a score of −inf.
SIMDATTN_API Status attention_scores(const TensorView& query, const TensorView& key,
                                     const MutableTensorView& scores,
                                     const AttentionOptions& options = {},
                                     const Context& context = {}) noexcept;

/// The scores of a call with everything that it may have, at any stage: written to tensors.weights.
/// tensors.value, past_value, output and lse are not looked at.
SIMDATTN_API Status attention_scores(const AttentionTensors& tensors, ScoreStage stage,
                                     const AttentionOptions& options = {},
                                     const Context& context = {}) noexcept;

/// weights = softmax(scores) along the last axis: [B, H, Lq, Lkv] → the same. A score of −inf
/// weighs exactly 0; a row of nothing else becomes zeros. `weights` may not be `scores`.
SIMDATTN_API Status attention_softmax(const TensorView& scores, const MutableTensorView& weights,
                                      const Context& context = {}) noexcept;

/// output = weights · V: [B, Hq, Lq, Lkv] and [B, Hkv, Lkv, Dv] → [B, Hq, Lq, Dv]. A plain product:
/// a weight of 0 times an infinite value is NaN.
SIMDATTN_API Status attention_weighted_sum(const TensorView& weights, const TensorView& value,
                                           const MutableTensorView& output,
                                           const Context& context = {}) noexcept;

} // namespace simdattn
