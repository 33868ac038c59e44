#pragma once
// Pure: arguments in, a Status and, on success, the Problem out.

#include "problem.hpp"
#include "simdattn/staged.hpp"

namespace simdattn {

/// The largest D and Dv.
inline constexpr std::int64_t max_dim = 1 << 20;

Status validate_attention(const AttentionTensors& tensors, const AttentionOptions& options,
                          Problem* problem) noexcept;
Status validate_scores(const AttentionTensors& tensors, ScoreStage stage,
                       const AttentionOptions& options, Problem* problem) noexcept;
Status validate_softmax(const TensorView& scores, const MutableTensorView& weights,
                        Problem* problem) noexcept;
Status validate_weighted_sum(const TensorView& weights, const TensorView& value,
                             const MutableTensorView& output, Problem* problem) noexcept;
Status validate_context(const Context& context) noexcept;

} // namespace simdattn
