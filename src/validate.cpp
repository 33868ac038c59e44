#include "validate.hpp"

#include <cinttypes>
#include <cmath>

#include "validate_tensor.hpp"

#define SIMDATTN_RETURN_IF_ERROR(expression)                                                                           \
  if (Status status_of_expression = (expression); !status_of_expression.ok()) return status_of_expression

namespace simdattn {
namespace {

Status check_heads(const NamedTensor& query, const NamedTensor& kv) noexcept {
  const std::int64_t query_heads = query.size[1], kv_heads = kv.size[1];
  if (query_heads == 0 || (kv_heads > 0 && query_heads % kv_heads == 0)) return {};
  return Status::error(StatusCode::invalid_argument,
                       "%s: size[1] (heads) is %" PRId64 "; it must divide the %" PRId64 " heads of %s", kv.name,
                       kv_heads, query_heads, query.name);
}

Status check_dim(const NamedTensor& tensor, std::int64_t least) noexcept {
  const std::int64_t dim = tensor.size[3];
  if (dim >= least && dim <= max_dim) return {};
  return Status::error(StatusCode::invalid_argument,
                       "%s: size[3] (dim) is %" PRId64 "; it must be in %" PRId64 " … %" PRId64, tensor.name, dim, least,
                       max_dim);
}

Status check_options(const AttentionOptions& options) noexcept {
  if (options.scale.has_value() && !std::isfinite(*options.scale)) {
    return Status::error(StatusCode::invalid_argument, "options.scale is %g; it must be finite",
                         static_cast<double>(*options.scale));
  }
  const auto causal = static_cast<unsigned>(options.causal);
  if (causal > static_cast<unsigned>(Causal::bottom_right)) {
    return Status::error(StatusCode::invalid_argument,
                         "options.causal is %u; it must be none (0), top_left (1) or bottom_right (2)", causal);
  }
  return {};
}

/// Query against key: sizes, heads, D; fills in what both say.
Status match_query_key(const NamedTensor& query, const NamedTensor& key, const AttentionOptions& options,
                       Problem* problem) noexcept {
  SIMDATTN_RETURN_IF_ERROR(check_tensor(query));
  SIMDATTN_RETURN_IF_ERROR(check_tensor(key));
  SIMDATTN_RETURN_IF_ERROR(check_options(options));
  SIMDATTN_RETURN_IF_ERROR(check_dim(query, 1));
  SIMDATTN_RETURN_IF_ERROR(check_size(key, 3, query.size[3], "as in query"));
  SIMDATTN_RETURN_IF_ERROR(check_size(key, 0, query.size[0], "as in query"));
  SIMDATTN_RETURN_IF_ERROR(check_heads(query, key));
  problem->batch = query.size[0];
  problem->query_heads = query.size[1];
  problem->kv_heads = key.size[1];
  problem->group = problem->kv_heads == 0 ? 0 : problem->query_heads / problem->kv_heads;
  problem->query_count = query.size[2];
  problem->key_count = key.size[2];
  problem->dim = static_cast<int>(query.size[3]);
  problem->scale =
      options.scale.value_or(static_cast<float>(1.0 / std::sqrt(static_cast<double>(problem->dim))));
  problem->causal = options.causal;
  return {};
}

/// An output with one row for each query: [B, Hq, Lq, columns].
Status check_rows(const NamedTensor& output, const Problem& problem, std::int64_t columns,
                  const char* columns_must_be) noexcept {
  SIMDATTN_RETURN_IF_ERROR(check_tensor(output));
  SIMDATTN_RETURN_IF_ERROR(check_size(output, 0, problem.batch, "as in query"));
  SIMDATTN_RETURN_IF_ERROR(check_size(output, 1, problem.query_heads, "as in query"));
  SIMDATTN_RETURN_IF_ERROR(check_size(output, 2, problem.query_count, "as in query"));
  return check_size(output, 3, columns, columns_must_be);
}

} // namespace

Status validate_attention(const AttentionTensors& tensors, const AttentionOptions& options, Problem* problem) noexcept {
  const NamedTensor query("query", tensors.query), key("key", tensors.key), value("value", tensors.value);
  const NamedTensor output("output", tensors.output), lse("lse", tensors.lse), weights("weights", tensors.weights);
  SIMDATTN_RETURN_IF_ERROR(match_query_key(query, key, options, problem));
  SIMDATTN_RETURN_IF_ERROR(check_tensor(value));
  SIMDATTN_RETURN_IF_ERROR(check_dim(value, 0));
  SIMDATTN_RETURN_IF_ERROR(check_size(value, 0, problem->batch, "as in query"));
  SIMDATTN_RETURN_IF_ERROR(check_size(value, 1, problem->kv_heads, "as in key"));
  SIMDATTN_RETURN_IF_ERROR(check_size(value, 2, problem->key_count, "as in key"));
  problem->value_dim = static_cast<int>(value.size[3]);
  SIMDATTN_RETURN_IF_ERROR(check_rows(output, *problem, problem->value_dim, "as in value"));
  if (lse.data != nullptr) {
    SIMDATTN_RETURN_IF_ERROR(check_rows(lse, *problem, 1, "one number for each query"));
  }
  if (weights.data != nullptr) {
    SIMDATTN_RETURN_IF_ERROR(check_rows(weights, *problem, problem->key_count, "the seq of key"));
  }
  for (const NamedTensor* written : {&output, &lse, &weights}) {
    for (const NamedTensor* other : {&query, &key, &value, &output, &lse, &weights}) {
      if (written != other) SIMDATTN_RETURN_IF_ERROR(check_apart(*written, *other));
    }
  }
  problem->query = tensors.query;
  problem->key = tensors.key;
  problem->value = tensors.value;
  problem->output = tensors.output;
  problem->lse = tensors.lse;
  problem->weights = tensors.weights;
  return {};
}

Status validate_scores(const TensorView& query, const TensorView& key, const MutableTensorView& scores,
                       const AttentionOptions& options, Problem* problem) noexcept {
  const NamedTensor named_query("query", query), named_key("key", key), named_scores("scores", scores);
  SIMDATTN_RETURN_IF_ERROR(match_query_key(named_query, named_key, options, problem));
  SIMDATTN_RETURN_IF_ERROR(check_rows(named_scores, *problem, problem->key_count, "the seq of key"));
  SIMDATTN_RETURN_IF_ERROR(check_apart(named_scores, named_query));
  SIMDATTN_RETURN_IF_ERROR(check_apart(named_scores, named_key));
  problem->query = query;
  problem->key = key;
  problem->weights = scores;
  return {};
}

namespace {

/// A problem whose rows are those of a matrix [B, H, Lq, Lkv] of scores or weights.
Status rows_of_matrix(const NamedTensor& matrix, const TensorView& view, Problem* problem) noexcept {
  SIMDATTN_RETURN_IF_ERROR(check_tensor(matrix));
  problem->batch = matrix.size[0];
  problem->query_heads = problem->kv_heads = matrix.size[1];
  problem->group = 1;
  problem->query_count = matrix.size[2];
  problem->key_count = matrix.size[3];
  problem->dim = 1;
  problem->query = view;
  return {};
}

} // namespace

Status validate_softmax(const TensorView& scores, const MutableTensorView& weights, Problem* problem) noexcept {
  const NamedTensor named_scores("scores", scores), named_weights("weights", weights);
  SIMDATTN_RETURN_IF_ERROR(rows_of_matrix(named_scores, scores, problem));
  SIMDATTN_RETURN_IF_ERROR(check_tensor(named_weights));
  for (int axis = 0; axis < 4; ++axis) {
    SIMDATTN_RETURN_IF_ERROR(check_size(named_weights, axis, scores.size[axis], "as in scores"));
  }
  SIMDATTN_RETURN_IF_ERROR(check_apart(named_weights, named_scores));
  problem->weights = weights;
  return {};
}

Status validate_weighted_sum(const TensorView& weights, const TensorView& value, const MutableTensorView& output,
                             Problem* problem) noexcept {
  const NamedTensor named_weights("weights", weights), named_value("value", value), named_output("output", output);
  SIMDATTN_RETURN_IF_ERROR(rows_of_matrix(named_weights, weights, problem));
  SIMDATTN_RETURN_IF_ERROR(check_tensor(named_value));
  SIMDATTN_RETURN_IF_ERROR(check_dim(named_value, 0));
  SIMDATTN_RETURN_IF_ERROR(check_size(named_value, 0, problem->batch, "as in weights"));
  SIMDATTN_RETURN_IF_ERROR(check_heads(named_weights, named_value));
  SIMDATTN_RETURN_IF_ERROR(check_size(named_value, 2, problem->key_count, "the last size of weights"));
  SIMDATTN_RETURN_IF_ERROR(check_tensor(named_output));
  for (int axis = 0; axis < 3; ++axis) {
    SIMDATTN_RETURN_IF_ERROR(check_size(named_output, axis, weights.size[axis], "as in weights"));
  }
  SIMDATTN_RETURN_IF_ERROR(check_size(named_output, 3, value.size[3], "as in value"));
  SIMDATTN_RETURN_IF_ERROR(check_apart(named_output, named_weights));
  SIMDATTN_RETURN_IF_ERROR(check_apart(named_output, named_value));
  problem->kv_heads = value.size[1];
  problem->group = problem->kv_heads == 0 ? 0 : problem->query_heads / problem->kv_heads;
  problem->value_dim = static_cast<int>(value.size[3]);
  problem->value = value;
  problem->output = output;
  return {};
}

Status validate_context(const Context& context) noexcept {
  if (context.threads < 0) {
    return Status::error(StatusCode::invalid_argument, "context.threads is %d; it must be 0 or more", context.threads);
  }
  return {};
}

} // namespace simdattn
