#include "simdattn/staged.hpp"

#include "run_call.hpp"
#include "validate.hpp"

namespace simdattn {
namespace {

Context without_workspace(const Context& context) {
  Context own = context;
  own.workspace = nullptr;
  own.workspace_bytes = 0;
  return own;
}

} // namespace

Status attention_scores(const AttentionTensors& tensors, ScoreStage stage,
                        const AttentionOptions& options, const Context& context) noexcept {
  Problem problem;
  if (Status status = validate_scores(tensors, stage, options, &problem); !status.ok())
    return status;
  return run_call("scores", problem, &KernelTable::scores, without_workspace(context));
}

Status attention_scores(const TensorView& query, const TensorView& key,
                        const MutableTensorView& scores, const AttentionOptions& options,
                        const Context& context) noexcept {
  AttentionTensors tensors;
  tensors.query = query;
  tensors.key = key;
  tensors.weights = scores;
  return attention_scores(tensors, ScoreStage::masked, options, context);
}

Status attention_softmax(const TensorView& scores, const MutableTensorView& weights,
                         const Context& context) noexcept {
  Problem problem;
  if (Status status = validate_softmax(scores, weights, &problem); !status.ok()) return status;
  return run_call("softmax", problem, &KernelTable::softmax, without_workspace(context));
}

Status attention_weighted_sum(const TensorView& weights, const TensorView& value,
                              const MutableTensorView& output, const Context& context) noexcept {
  Problem problem;
  if (Status status = validate_weighted_sum(weights, value, output, &problem); !status.ok())
    return status;
  return run_call("weighted_sum", problem, &KernelTable::weighted_sum, without_workspace(context));
}

} // namespace simdattn
