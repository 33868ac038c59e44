#include "validate.hpp"

#include "validate_options.hpp"
#include "validate_tensor.hpp"

#include <cinttypes>
#include <initializer_list>

namespace simdattn {
namespace {

Status check_heads(const NamedTensor& query, const NamedTensor& kv) noexcept {
  const std::int64_t query_heads = query.size[1], kv_heads = kv.size[1];
  if (query_heads == 0 || (kv_heads > 0 && query_heads % kv_heads == 0)) return {};
  return Status::error(StatusCode::invalid_argument,
                       "%s: size[1] (heads) is %" PRId64 "; it must divide the %" PRId64
                       " heads of %s",
                       kv.name, kv_heads, query_heads, query.name);
}

Status check_dim(const NamedTensor& tensor, std::int64_t least) noexcept {
  const std::int64_t dim = tensor.size[3];
  if (dim >= least && dim <= max_dim) return {};
  return Status::error(StatusCode::invalid_argument,
                       "%s: size[3] (dim) is %" PRId64 "; it must be in %" PRId64 " … %" PRId64,
                       tensor.name, dim, least, max_dim);
}

void set_heads(std::int64_t query_heads, std::int64_t kv_heads, Problem* problem) noexcept {
  problem->query_heads = query_heads;
  problem->kv_heads = kv_heads;
  problem->group = kv_heads == 0 ? 0 : query_heads / kv_heads;
}

/// A past segment against the one that follows it: the same but for the number of keys.
Status check_past(const NamedTensor& past, const NamedTensor& present) noexcept {
  SIMDATTN_RETURN_IF_ERROR(check_tensor(past));
  for (int axis : {0, 1, 3})
    SIMDATTN_RETURN_IF_ERROR(check_size(past, axis, present.size[axis], "as in what follows it"));
  return {};
}

/// Query against key: sizes, heads, D, past and sequences; fills in what they say.
Status match_query_key(const AttentionTensors& tensors, const AttentionOptions& options,
                       Problem* problem) noexcept {
  const NamedTensor query("query", tensors.query), key("key", tensors.key),
      past_key("past_key", tensors.past_key);
  SIMDATTN_RETURN_IF_ERROR(check_tensor(query));
  SIMDATTN_RETURN_IF_ERROR(check_tensor(key));
  SIMDATTN_RETURN_IF_ERROR(check_dim(query, 1));
  SIMDATTN_RETURN_IF_ERROR(check_size(key, 3, query.size[3], "as in query"));
  SIMDATTN_RETURN_IF_ERROR(check_size(key, 0, query.size[0], "as in query"));
  SIMDATTN_RETURN_IF_ERROR(check_heads(query, key));
  set_heads(query.size[1], key.size[1], problem);
  problem->batch = query.size[0];
  problem->query_count = query.size[2];
  problem->key_count = key.size[2];
  problem->dim = static_cast<int>(query.size[3]);
  if (past_key.data != nullptr) {
    SIMDATTN_RETURN_IF_ERROR(check_past(past_key, key));
    problem->past_count = past_key.size[2];
    if (__builtin_add_overflow(problem->key_count, problem->past_count, &problem->key_count)) {
      return Status::error(StatusCode::invalid_argument,
                           "past_key: size[2] (seq) is %" PRId64
                           "; with key it must fit in 64 bits",
                           problem->past_count);
    }
  }
  SIMDATTN_RETURN_IF_ERROR(check_options(options, problem));
  SIMDATTN_RETURN_IF_ERROR(check_sequences(tensors, problem));
  SIMDATTN_RETURN_IF_ERROR(check_score_tensors(tensors, query.size[2], problem));
  problem->query = tensors.query;
  problem->key = tensors.key;
  problem->past_key = tensors.past_key;
  return {};
}

/// An output with one row for each query: [B, Hq, Lq, columns].
Status check_rows(const NamedTensor& output, const TensorView& query, std::int64_t columns,
                  const char* columns_must_be) noexcept {
  SIMDATTN_RETURN_IF_ERROR(check_tensor(output));
  for (int axis = 0; axis < 3; ++axis)
    SIMDATTN_RETURN_IF_ERROR(check_size(output, axis, query.size[axis], "as in query"));
  return check_size(output, 3, columns, columns_must_be);
}

Status check_outputs_apart(std::initializer_list<NamedTensor> outputs,
                           std::initializer_list<NamedTensor> inputs) noexcept {
  for (const NamedTensor& output : outputs) {
    for (const NamedTensor& input : inputs)
      SIMDATTN_RETURN_IF_ERROR(check_apart(output, input));
    for (const NamedTensor& other : outputs) {
      if (&output != &other) SIMDATTN_RETURN_IF_ERROR(check_apart(output, other));
    }
  }
  return {};
}

/// Value and past_value against what is known of key.
Status match_value(const AttentionTensors& tensors, Problem* problem) noexcept {
  const NamedTensor value("value", tensors.value), past_value("past_value", tensors.past_value);
  SIMDATTN_RETURN_IF_ERROR(check_tensor(value));
  SIMDATTN_RETURN_IF_ERROR(check_dim(value, 0));
  for (int axis = 0; axis < 3; ++axis) {
    SIMDATTN_RETURN_IF_ERROR(check_size(value, axis, tensors.key.size[axis], "as in key"));
  }
  problem->value_dim = static_cast<int>(value.size[3]);
  problem->value = tensors.value;
  if ((tensors.past_key.data == nullptr) != (tensors.past_value.data == nullptr)) {
    const bool no_key = tensors.past_key.data == nullptr;
    return Status::error(StatusCode::invalid_argument,
                         "%s: data is nullptr; it must be given together with %s",
                         no_key ? "past_key" : "past_value", no_key ? "past_value" : "past_key");
  }
  if (past_value.data != nullptr) {
    SIMDATTN_RETURN_IF_ERROR(check_past(past_value, value));
    SIMDATTN_RETURN_IF_ERROR(check_size(past_value, 2, problem->past_count, "as in past_key"));
    problem->past_value = tensors.past_value;
  }
  return {};
}

/// A problem whose rows are those of a matrix [B, H, Lq, Lkv] of scores or weights.
Status rows_of_matrix(const NamedTensor& matrix, const TensorView& view,
                      Problem* problem) noexcept {
  SIMDATTN_RETURN_IF_ERROR(check_tensor(matrix));
  set_heads(matrix.size[1], matrix.size[1], problem);
  problem->batch = matrix.size[0];
  problem->query_count = matrix.size[2];
  problem->key_count = matrix.size[3];
  problem->dim = 1;
  problem->query = view;
  return {};
}

} // namespace

Status validate_attention(const AttentionTensors& tensors, const AttentionOptions& options,
                          Problem* problem) noexcept {
  SIMDATTN_RETURN_IF_ERROR(match_query_key(tensors, options, problem));
  SIMDATTN_RETURN_IF_ERROR(match_value(tensors, problem));
  const NamedTensor output("output", tensors.output), lse("lse", tensors.lse),
      weights("weights", tensors.weights);
  SIMDATTN_RETURN_IF_ERROR(check_rows(output, tensors.query, problem->value_dim, "as in value"));
  if (lse.data != nullptr) {
    SIMDATTN_RETURN_IF_ERROR(check_rows(lse, tensors.query, 1, "one number for each query"));
  }
  if (weights.data != nullptr) {
    SIMDATTN_RETURN_IF_ERROR(
        check_rows(weights, tensors.query, problem->key_count, "the number of keys"));
  }
  problem->output = tensors.output;
  problem->lse = tensors.lse;
  problem->weights = tensors.weights;
  return check_outputs_apart({output, lse, weights}, {{"query", tensors.query},
                                                      {"key", tensors.key},
                                                      {"value", tensors.value},
                                                      {"past_key", tensors.past_key},
                                                      {"past_value", tensors.past_value},
                                                      {"mask", tensors.mask}});
}

Status validate_scores(const AttentionTensors& tensors, ScoreStage stage,
                       const AttentionOptions& options, Problem* problem) noexcept {
  if (static_cast<unsigned>(stage) > static_cast<unsigned>(ScoreStage::masked)) {
    return Status::error(StatusCode::invalid_argument,
                         "stage is %u; it must be raw (0), capped (1) or masked (2)",
                         static_cast<unsigned>(stage));
  }
  SIMDATTN_RETURN_IF_ERROR(match_query_key(tensors, options, problem));
  const NamedTensor scores("scores", tensors.weights);
  SIMDATTN_RETURN_IF_ERROR(
      check_rows(scores, tensors.query, problem->key_count, "the number of keys"));
  problem->weights = tensors.weights;
  problem->stage = stage;
  if (stage != ScoreStage::masked) problem->mask = {};
  return check_outputs_apart({scores}, {{"query", tensors.query},
                                        {"key", tensors.key},
                                        {"past_key", tensors.past_key},
                                        {"mask", tensors.mask}});
}

Status validate_softmax(const TensorView& scores, const MutableTensorView& weights,
                        Problem* problem) noexcept {
  const NamedTensor named_scores("scores", scores), named_weights("weights", weights);
  SIMDATTN_RETURN_IF_ERROR(rows_of_matrix(named_scores, scores, problem));
  SIMDATTN_RETURN_IF_ERROR(check_tensor(named_weights));
  for (int axis = 0; axis < 4; ++axis) {
    SIMDATTN_RETURN_IF_ERROR(check_size(named_weights, axis, scores.size[axis], "as in scores"));
  }
  problem->weights = weights;
  return check_outputs_apart({named_weights}, {named_scores});
}

Status validate_weighted_sum(const TensorView& weights, const TensorView& value,
                             const MutableTensorView& output, Problem* problem) noexcept {
  const NamedTensor named_weights("weights", weights), named_value("value", value),
      named_output("output", output);
  SIMDATTN_RETURN_IF_ERROR(rows_of_matrix(named_weights, weights, problem));
  SIMDATTN_RETURN_IF_ERROR(check_tensor(named_value));
  SIMDATTN_RETURN_IF_ERROR(check_dim(named_value, 0));
  SIMDATTN_RETURN_IF_ERROR(check_size(named_value, 0, problem->batch, "as in weights"));
  SIMDATTN_RETURN_IF_ERROR(check_heads(named_weights, named_value));
  SIMDATTN_RETURN_IF_ERROR(
      check_size(named_value, 2, problem->key_count, "the last size of weights"));
  SIMDATTN_RETURN_IF_ERROR(check_tensor(named_output));
  for (int axis = 0; axis < 3; ++axis) {
    SIMDATTN_RETURN_IF_ERROR(check_size(named_output, axis, weights.size[axis], "as in weights"));
  }
  SIMDATTN_RETURN_IF_ERROR(check_size(named_output, 3, value.size[3], "as in value"));
  set_heads(weights.size[1], value.size[1], problem);
  problem->value_dim = static_cast<int>(value.size[3]);
  problem->value = value;
  problem->output = output;
  return check_outputs_apart({named_output}, {named_weights, named_value});
}

Status validate_context(const Context& context) noexcept {
  if (context.threads < 0) {
    return Status::error(StatusCode::invalid_argument,
                         "context.threads is %d; it must be 0 or more", context.threads);
  }
  return {};
}

} // namespace simdattn
