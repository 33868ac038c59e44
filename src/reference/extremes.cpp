#include "extremes.hpp"

#include "head.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace simdattn::reference {
namespace {

void take_finite_maximum(double candidate, double& maximum) {
  if (std::isfinite(candidate)) maximum = std::max(maximum, candidate);
}

} // namespace

double Extremes::raw_score_error(const AttentionTensors& tensors) const noexcept {
  return unit_roundoff * (4 + static_cast<double>(tensors.query.size[3]) / 4) * magnitude;
}

Extremes extremes_of(const AttentionTensors& tensors, const AttentionOptions& options, Keys keys) {
  Extremes extremes;
  for_each_head(tensors, options,
                [&](const Sequence& sequence, std::int64_t head, const HeadScores& scores, auto) {
                  std::vector<double> magnitudes(static_cast<std::size_t>(sequence.key_count));
                  std::vector<bool> seen(magnitudes.size());
                  for (std::int64_t i = 0; i < sequence.query_count; ++i) {
                    scores.magnitudes(i, magnitudes.data());
                    for (std::size_t j = 0; j < seen.size(); ++j) {
                      if (keys == Keys::visible && !scores.visible(i, static_cast<std::int64_t>(j)))
                        continue;
                      seen[j] = true;
                      take_finite_maximum(magnitudes[j], extremes.magnitude);
                    }
                  }
                  if (tensors.value.data == nullptr) return; // scores alone
                  const Matrix value = values_of(tensors, sequence, head);
                  for (std::int64_t j = 0; j < value.rows; ++j)
                    for (std::int64_t d = 0; d < value.columns && seen[static_cast<std::size_t>(j)];
                         ++d)
                      take_finite_maximum(std::abs(value.row(j)[d]), extremes.value);
                });
  return extremes;
}

} // namespace simdattn::reference
