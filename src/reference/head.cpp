#include "head.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace simdattn::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The rows of `past`, when there are any, and after them the sequence's rows of `present`.
Matrix past_and_present(const TensorView& past, const TensorView& present, const Sequence& sequence,
                        std::int64_t head) {
  if (past.data == nullptr)
    return slice(present, sequence.batch, head, sequence.first_key, sequence.key_count);
  Matrix rows = slice(past, sequence.batch, head);
  append(rows, slice(present, sequence.batch, head));
  return rows;
}

} // namespace

std::int64_t kv_head(std::int64_t head, std::int64_t heads, std::int64_t kv_heads) noexcept {
  return head / (heads / kv_heads);
}

Matrix values_of(const AttentionTensors& tensors, const Sequence& sequence, std::int64_t head) {
  return past_and_present(tensors.past_value, tensors.value, sequence,
                          kv_head(head, tensors.query.size[1], tensors.value.size[1]));
}

HeadScores::HeadScores(const AttentionTensors& tensors, const AttentionOptions& options,
                       const Sequence& sequence, std::int64_t head)
    : tensors_(tensors), options_(options), sequence_(sequence), head_(head),
      query_(
          slice(tensors.query, sequence.batch, head, sequence.first_query, sequence.query_count)),
      transposed_key_(
          transposed(past_and_present(tensors.past_key, tensors.key, sequence,
                                      kv_head(head, tensors.query.size[1], tensors.key.size[1])))),
      scale_(options.scale ? double{*options.scale}
                           : 1.0 / std::sqrt(static_cast<double>(query_.columns))) {}

double HeadScores::mask_at(std::int64_t i, std::int64_t j) const noexcept {
  return broadcast_element(tensors_.mask, sequence_.batch, head_, sequence_.first_query + i, j);
}

bool HeadScores::visible(std::int64_t i, std::int64_t j) const noexcept {
  if (!sequence_.allows(i, j)) return false;
  if (tensors_.mask.data == nullptr) return true;
  return tensors_.mask.type == DataType::boolean ? mask_at(i, j) != 0 : mask_at(i, j) != -infinity;
}

double HeadScores::sink() const noexcept {
  if (tensors_.sinks.data == nullptr) return -infinity;
  return broadcast_element(tensors_.sinks, sequence_.index, head_);
}

void HeadScores::row(std::int64_t i, ScoreStage stage, double raw_error, Score* scores) const {
  const std::int64_t keys = sequence_.key_count;
  const double* query = query_.row(i);
  std::vector<double> products(static_cast<std::size_t>(keys));
  for (std::int64_t d = 0; d < query_.columns; ++d) {
    const double* key = transposed_key_.row(d);
    for (std::int64_t j = 0; j < keys; ++j)
      products[j] += query[d] * key[j];
  }
  const auto cap = static_cast<double>(options_.softcap);
  for (std::int64_t j = 0; j < keys; ++j) {
    scores[j] = {in_f32_range(scale_ * products[j]), raw_error};
    if (stage != ScoreStage::raw && cap > 0) scores[j] = softcapped(scores[j], cap);
  }
  if (stage == ScoreStage::masked) mask_row(i, scores);
}

void HeadScores::mask_row(std::int64_t i, Score* scores) const {
  const std::int64_t keys = sequence_.key_count;
  if (tensors_.alibi_slopes.data != nullptr) {
    const double slope = broadcast_element(tensors_.alibi_slopes, sequence_.index, head_);
    for (std::int64_t j = 0; j < keys; ++j)
      scores[j] = biased(scores[j], slope * static_cast<double>(sequence_.distance(i, j)));
  }
  if (options_.modifier.modify != nullptr) {
    ScoreTile tile{};
    tile.batch = sequence_.index;
    tile.head = head_;
    tile.first_row = i;
    tile.key_count = keys;
    modify(options_.modifier, tile, scores);
  }
  const bool additive = tensors_.mask.data != nullptr && tensors_.mask.type != DataType::boolean;
  for (std::int64_t j = 0; j < keys; ++j) {
    if (!visible(i, j))
      scores[j] = {-infinity, 0};
    else if (additive)
      scores[j] = masked(scores[j], mask_at(i, j));
  }
}

void HeadScores::magnitudes(std::int64_t i, double* magnitudes) const {
  const std::int64_t keys = sequence_.key_count;
  const double* query = query_.row(i);
  std::fill(magnitudes, magnitudes + keys, 0.0);
  for (std::int64_t d = 0; d < query_.columns; ++d) {
    const double* key = transposed_key_.row(d);
    const double factor = std::abs(scale_ * query[d]);
    for (std::int64_t j = 0; j < keys; ++j)
      magnitudes[j] += factor * std::abs(key[j]);
  }
}

} // namespace simdattn::reference
