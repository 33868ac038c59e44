#include "head.hpp"
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace simdattn::reference {
namespace {

constexpr double unit_roundoff = 0x1p-24;

// The largest rounding scale of a call's scores, and its largest value, over what its queries see.
struct Extremes {
  double magnitude = 0; // σ: max |scale| · Σ_d |q_d · k_d|
  double value = 0;     // max |V|
};

void take_finite_maximum(double candidate, double& maximum) {
  if (std::isfinite(candidate)) maximum = std::max(maximum, candidate);
}

void take_head(const AttentionTensors& tensors, const AttentionOptions& options, std::int64_t batch,
               std::int64_t head_index, Extremes& extremes) {
  const HeadScores head(tensors, options, batch, head_index);
  std::vector<double> magnitudes(head.key_count());
  std::vector<bool> seen(head.key_count());
  for (std::int64_t i = 0; i < head.query_count(); ++i) {
    head.magnitudes(i, magnitudes.data());
    for (std::int64_t j = 0; j < head.key_count(); ++j)
      if (head.visible(i, j)) {
        seen[j] = true;
        take_finite_maximum(magnitudes[j], extremes.magnitude);
      }
  }
  const Matrix value = slice(tensors.value, batch,
                             kv_head(head_index, tensors.query.size[1], tensors.value.size[1]));
  for (std::int64_t j = 0; j < value.rows; ++j)
    for (std::int64_t d = 0; d < value.columns && seen[j]; ++d)
      take_finite_maximum(std::abs(value.row(j)[d]), extremes.value);
}

} // namespace

double Tolerance::lse(double value) const noexcept {
  return lse_base + (std::isfinite(value) ? unit_roundoff * 2 * std::abs(value) : 0);
}

Tolerance tolerance(const AttentionTensors& tensors, const AttentionOptions& options) {
  Extremes extremes;
  for (std::int64_t b = 0; b < tensors.query.size[0]; ++b)
    for (std::int64_t h = 0; h < tensors.query.size[1]; ++h)
      take_head(tensors, options, b, h, extremes);
  const auto dim = static_cast<double>(tensors.query.size[3]);
  const auto keys = static_cast<double>(tensors.key.size[2]);
  const double score = (4 + dim / 4) * extremes.magnitude;
  const double sum = std::min(keys, 512.0) / 3 + keys / 128;
  Tolerance tolerance;
  tolerance.scores = unit_roundoff * score;
  tolerance.weights = unit_roundoff * (16 + score + sum);
  tolerance.output = tolerance.weights * extremes.value;
  tolerance.lse_base = unit_roundoff * (16 + score);
  return tolerance;
}

} // namespace simdattn::reference
