#include "head.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

namespace simdattn::reference {
namespace {

double load(const TensorView& tensor, std::int64_t batch, std::int64_t head, std::int64_t i,
            std::int64_t d) {
  const std::int64_t offset = batch * tensor.stride[0] + head * tensor.stride[1] +
                              i * tensor.stride[2] + d * tensor.stride[3];
  return static_cast<const float*>(tensor.data)[offset];
}

double as_f32_range(double score) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return std::abs(score) > FLT_MAX ? std::copysign(infinity, score) : score;
}

} // namespace

Matrix slice(const TensorView& tensor, std::int64_t batch, std::int64_t head) {
  Matrix matrix{tensor.size[2], tensor.size[3], {}};
  matrix.elements.reserve(static_cast<std::size_t>(matrix.rows * matrix.columns));
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    for (std::int64_t d = 0; d < matrix.columns; ++d)
      matrix.elements.push_back(load(tensor, batch, head, i, d));
  return matrix;
}

Matrix transposed_slice(const TensorView& tensor, std::int64_t batch, std::int64_t head) {
  TensorView transposed = tensor;
  std::swap(transposed.size[2], transposed.size[3]);
  std::swap(transposed.stride[2], transposed.stride[3]);
  return slice(transposed, batch, head);
}

std::int64_t kv_head(std::int64_t head, std::int64_t heads, std::int64_t kv_heads) noexcept {
  return head / (heads / kv_heads);
}

HeadScores::HeadScores(const AttentionTensors& tensors, const AttentionOptions& options,
                       std::int64_t batch, std::int64_t head)
    : query_(slice(tensors.query, batch, head)),
      transposed_key_(transposed_slice(tensors.key, batch,
                                       kv_head(head, tensors.query.size[1], tensors.key.size[1]))),
      scale_(options.scale ? double{*options.scale}
                           : 1.0 / std::sqrt(static_cast<double>(query_.columns))),
      causal_(options.causal) {}

bool HeadScores::visible(std::int64_t i, std::int64_t j) const noexcept {
  switch (causal_) {
  case Causal::none:
    return true;
  case Causal::top_left:
    return j <= i;
  case Causal::bottom_right:
    return j <= i + key_count() - query_count();
  }
  return false;
}

void HeadScores::row(std::int64_t i, double* scores) const {
  const std::int64_t keys = key_count();
  const double* query = query_.row(i);
  std::fill(scores, scores + keys, 0.0);
  for (std::int64_t d = 0; d < query_.columns; ++d) {
    const double* key = transposed_key_.row(d);
    for (std::int64_t j = 0; j < keys; ++j)
      scores[j] += query[d] * key[j];
  }
  for (std::int64_t j = 0; j < keys; ++j)
    scores[j] =
        visible(i, j) ? as_f32_range(scale_ * scores[j]) : -std::numeric_limits<double>::infinity();
}

void HeadScores::magnitudes(std::int64_t i, double* magnitudes) const {
  const std::int64_t keys = key_count();
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
