#include "score_steps.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

namespace simdattn::reference {
namespace {

// The f32 number that a finite sum becomes.
double rounded_sum(double sum) noexcept {
  return std::max(double{static_cast<float>(in_f32_range(sum))}, double{-FLT_MAX});
}

// What the modifier makes of the row where every score is moved by `direction` times its error.
std::vector<float> modified(const ScoreModifier& modifier, ScoreTile tile, const Score* scores,
                            double direction) {
  std::vector<float> row(static_cast<std::size_t>(tile.key_count));
  for (std::size_t j = 0; j < row.size(); ++j)
    row[j] = static_cast<float>(scores[j].value + direction * scores[j].error);
  tile.scores = row.data();
  modifier.modify(modifier.user, tile);
  return row;
}

} // namespace

double in_f32_range(double score) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return std::abs(score) > FLT_MAX ? std::copysign(infinity, score) : score;
}

// tanh never steepens an error. Its own roundings, all relative to the result or damped by the
// slope of tanh: the quotient score/cap (2u, by a reciprocal), tanh within 4 ULP (8u), the product
// with cap (u); 12u in all, of a result that is below |score| and below cap.
Score softcapped(const Score& score, double cap) noexcept {
  const double size = std::min(std::abs(score.value), cap);
  const double rounding = std::isnan(size) ? 0 : 12 * unit_roundoff * size;
  return {cap * std::tanh(score.value / cap), score.error + rounding};
}

// The distance is exact in f32; slope · distance and the sum round once each. Another u of the bias
// for implementations that form it from a part for the row and a part for the key.
Score biased(const Score& score, double bias) noexcept {
  const double sum = in_f32_range(score.value + bias);
  const double rounding =
      std::isfinite(sum) ? unit_roundoff * (2 * std::abs(bias) + std::abs(sum)) : 0;
  return {sum, score.error + rounding};
}

// Rounding is monotonic: an f32 score within `error` of the exact one gives a sum between those of
// the ends. Another u of the sum for implementations that round elsewhere too, as by working in
// powers of two. But a score well below half a unit of the mask drowns in it whatever the order:
// fl(s − FLT_MAX) is −FLT_MAX for every usual s, exactly.
Score masked(const Score& score, double mask) noexcept {
  if (!std::isfinite(score.value) || !std::isfinite(mask)) return {score.value + mask, score.error};
  const double size = 2 * (std::abs(score.value) + score.error);
  if (rounded_sum(mask - size) == mask && rounded_sum(mask + size) == mask) return {mask, 0};
  const double value = rounded_sum(score.value + mask);
  const double below = rounded_sum(score.value - score.error + mask);
  const double above = rounded_sum(score.value + score.error + mask);
  return {value, std::max(value - below, above - value) + unit_roundoff * std::abs(value)};
}

// What the modifier does between the ends of a score's error is not known; the bound is right for
// one that is monotonic there. Its result is f32 already, but it may round otherwise elsewhere.
void modify(const ScoreModifier& modifier, ScoreTile tile, Score* scores) {
  tile.row_count = 1;
  tile.row_stride = tile.key_count;
  tile.key_stride = 1;
  tile.first_key = 0;
  const std::vector<float> middle = modified(modifier, tile, scores, 0);
  const std::vector<float> below = modified(modifier, tile, scores, -1);
  const std::vector<float> above = modified(modifier, tile, scores, 1);
  for (std::size_t j = 0; j < middle.size(); ++j) {
    const double value = middle[j];
    const double error = std::max(std::abs(below[j] - value), std::abs(above[j] - value));
    const double rounding = unit_roundoff * std::abs(value);
    scores[j] = {value, std::isfinite(error) ? error + rounding : 0};
  }
}

} // namespace simdattn::reference
