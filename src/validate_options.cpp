#include "validate_options.hpp"

#include "validate_tensor.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>

namespace simdattn {
namespace {

/// Positions and windows stay this far from overflowing.
constexpr std::int64_t largest_offset = std::int64_t{1} << 40;

Status check_window(const char* name, std::int64_t window) noexcept {
  if (window >= -1) return {};
  return Status::error(StatusCode::invalid_argument,
                       "options.%s is %" PRId64 "; it must be -1 (no bound) or more", name, window);
}

/// A list of `count` numbers, each in least … most.
Status check_list(const NamedTensor& list, std::int64_t count, const char* count_must_be,
                  std::int64_t least, std::int64_t most) noexcept {
  SIMDATTN_RETURN_IF_ERROR(check_tensor(list, DataType::i64));
  SIMDATTN_RETURN_IF_ERROR(check_size(list, 0, count, count_must_be));
  for (int axis = 1; axis < 4; ++axis)
    SIMDATTN_RETURN_IF_ERROR(check_size(list, axis, 1, "in a list"));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t number = static_cast<const std::int64_t*>(list.data)[i * list.stride[0]];
    if (number < least || number > most) {
      return Status::error(StatusCode::invalid_argument,
                           "%s[%" PRId64 "] is %" PRId64 "; it must be in %" PRId64 " … %" PRId64,
                           list.name, i, number, least, most);
    }
  }
  return {};
}

/// Cumulative starts: from 0 to `tokens`, never decreasing. Writes the longest sequence.
Status check_starts(const NamedTensor& starts, const TensorView& view, std::int64_t tokens,
                    std::int64_t* longest) noexcept {
  if (starts.size[0] < 1) {
    return Status::error(StatusCode::invalid_argument,
                         "%s: size[0] (batch) is %" PRId64
                         "; it must be 1 more than the number of sequences",
                         starts.name, starts.size[0]);
  }
  SIMDATTN_RETURN_IF_ERROR(check_list(starts, starts.size[0], "", 0, tokens));
  const std::int64_t sequences = starts.size[0] - 1;
  *longest = 0;
  for (std::int64_t n = 0; n < sequences; ++n) {
    const std::int64_t length = number_at(view, n + 1, 0) - number_at(view, n, 0);
    if (length < 0) {
      return Status::error(StatusCode::invalid_argument,
                           "%s[%" PRId64 "] is %" PRId64 "; it must be at least %" PRId64
                           ", the one before it",
                           starts.name, n + 1, number_at(view, n + 1, 0), number_at(view, n, 0));
    }
    *longest = std::max(*longest, length);
  }
  if (number_at(view, 0, 0) != 0 || number_at(view, sequences, 0) != tokens) {
    return Status::error(StatusCode::invalid_argument,
                         "%s runs from %" PRId64 " to %" PRId64 "; it must run from 0 to %" PRId64
                         ", the number of tokens",
                         starts.name, number_at(view, 0, 0), number_at(view, sequences, 0), tokens);
  }
  return {};
}

Status check_ragged(const AttentionTensors& tensors, Problem* problem) noexcept {
  const NamedTensor query_starts("query_starts", tensors.query_starts),
      kv_starts("kv_starts", tensors.kv_starts);
  if ((query_starts.data == nullptr) != (kv_starts.data == nullptr)) {
    const bool no_query = query_starts.data == nullptr;
    return Status::error(
        StatusCode::invalid_argument, "%s: data is nullptr; it must be given together with %s",
        no_query ? "query_starts" : "kv_starts", no_query ? "kv_starts" : "query_starts");
  }
  if (query_starts.data == nullptr) return {};
  if (problem->batch != 1) {
    return Status::error(StatusCode::invalid_argument,
                         "query: size[0] (batch) is %" PRId64
                         "; it must be 1 where query_starts is given",
                         problem->batch);
  }
  if (tensors.past_key.data != nullptr) {
    return Status::error(StatusCode::invalid_argument,
                         "past_key: it must be absent where query_starts is given");
  }
  SIMDATTN_RETURN_IF_ERROR(check_starts(query_starts, tensors.query_starts, problem->query_count,
                                        &problem->query_count));
  SIMDATTN_RETURN_IF_ERROR(
      check_starts(kv_starts, tensors.kv_starts, problem->key_count, &problem->key_count));
  SIMDATTN_RETURN_IF_ERROR(check_size(kv_starts, 0, query_starts.size[0], "as in query_starts"));
  problem->batch = query_starts.size[0] - 1;
  problem->query_starts = tensors.query_starts;
  problem->kv_starts = tensors.kv_starts;
  return {};
}

} // namespace

Status check_options(const AttentionOptions& options, Problem* problem) noexcept {
  if (options.scale.has_value() && !std::isfinite(*options.scale)) {
    return Status::error(StatusCode::invalid_argument, "options.scale is %g; it must be finite",
                         static_cast<double>(*options.scale));
  }
  const auto causal = static_cast<unsigned>(options.causal);
  if (causal > static_cast<unsigned>(Causal::bottom_right)) {
    return Status::error(
        StatusCode::invalid_argument,
        "options.causal is %u; it must be none (0), top_left (1) or bottom_right (2)", causal);
  }
  SIMDATTN_RETURN_IF_ERROR(check_window("window_left", options.window_left));
  SIMDATTN_RETURN_IF_ERROR(check_window("window_right", options.window_right));
  if (!std::isfinite(options.softcap) || options.softcap < 0.0f) {
    return Status::error(StatusCode::invalid_argument,
                         "options.softcap is %g; it must be 0 (off), or finite and above",
                         static_cast<double>(options.softcap));
  }
  problem->scale = options.scale.value_or(
      static_cast<float>(1.0 / std::sqrt(static_cast<double>(problem->dim))));
  problem->causal = options.causal;
  problem->window_left = std::min(options.window_left, 2 * largest_offset);
  problem->window_right = std::min(options.window_right, 2 * largest_offset);
  problem->softcap = options.softcap;
  problem->modifier = options.modifier;
  return {};
}

Status check_sequences(const AttentionTensors& tensors, Problem* problem) noexcept {
  SIMDATTN_RETURN_IF_ERROR(check_ragged(tensors, problem));
  if (tensors.kv_lengths.data != nullptr) {
    const NamedTensor list("kv_lengths", tensors.kv_lengths);
    SIMDATTN_RETURN_IF_ERROR(
        check_list(list, problem->batch, "one for each batch entry", 0, problem->key_count));
  }
  if (tensors.query_lengths.data != nullptr) {
    const NamedTensor list("query_lengths", tensors.query_lengths);
    SIMDATTN_RETURN_IF_ERROR(
        check_list(list, problem->batch, "one for each batch entry", 0, problem->query_count));
  }
  if (tensors.query_offsets.data != nullptr) {
    const NamedTensor list("query_offsets", tensors.query_offsets);
    if (problem->causal == Causal::bottom_right) {
      return Status::error(StatusCode::invalid_argument,
                           "query_offsets: it must be absent where options.causal is bottom_right, "
                           "which has its own");
    }
    SIMDATTN_RETURN_IF_ERROR(check_list(list, problem->batch, "one for each batch entry",
                                        -largest_offset, largest_offset));
  }
  problem->kv_lengths = tensors.kv_lengths;
  problem->query_lengths = tensors.query_lengths;
  problem->query_offsets = tensors.query_offsets;
  return {};
}

Status check_score_tensors(const AttentionTensors& tensors, std::int64_t mask_rows,
                           Problem* problem) noexcept {
  const std::int64_t mask_batch = problem->ragged() ? 1 : problem->batch;
  if (tensors.mask.data != nullptr) {
    problem->mask = tensors.mask;
    const NamedTensor mask("mask", tensors.mask);
    if (mask.type != DataType::boolean && mask.type != DataType::f32 &&
        mask.type != DataType::f16 && mask.type != DataType::bf16) {
      return Status::error(StatusCode::invalid_argument,
                           "mask: type is %s; it must be boolean, f32, f16 or bf16",
                           type_name(mask.type));
    }
    SIMDATTN_RETURN_IF_ERROR(check_tensor(mask, mask.type));
    SIMDATTN_RETURN_IF_ERROR(check_broadcast(
        mask, {mask_batch, problem->query_heads, mask_rows, problem->key_count}, &problem->mask));
  }
  problem->alibi_slopes = tensors.alibi_slopes;
  if (tensors.alibi_slopes.data != nullptr) {
    const NamedTensor slopes("alibi_slopes", tensors.alibi_slopes);
    SIMDATTN_RETURN_IF_ERROR(check_tensor(slopes));
    SIMDATTN_RETURN_IF_ERROR(check_broadcast(slopes, {problem->batch, problem->query_heads, 1, 1},
                                             &problem->alibi_slopes));
  }
  problem->sinks = tensors.sinks;
  if (tensors.sinks.data != nullptr) {
    const NamedTensor sinks("sinks", tensors.sinks);
    SIMDATTN_RETURN_IF_ERROR(check_tensor(sinks));
    SIMDATTN_RETURN_IF_ERROR(
        check_broadcast(sinks, {problem->batch, problem->query_heads, 1, 1}, &problem->sinks));
  }
  return {};
}

} // namespace simdattn
