#include "extremes.hpp"
#include "head.hpp"
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

// With u = 2^-24, every row has at least these bounds, which hold for scores that are scale · q·k:
//
//   score    e₀ = u · (4 + D/4) · σ
//   weights  u · (16 + (4 + D/4) · σ + min(Lkv, 512)/3 + Lkv/128)
//   lse      u · (16 + (4 + D/4) · σ + 2 · |lse|)
//
// and the output that of the weights times max |V|. Softcap, ALiBi, modifier, mask and sink round
// again. score_steps.cpp bounds the error e_j of each score after them; what it has beyond e₀ is
// x_j = max(0, e_j − e₀). Scores are then in natural units, so that the exponent
// (s_j − max) · log2(e) is rounded too: by the difference, the constant and the product, 3u of
// itself, which counts as an error of the score. A sink is a score t that is known exactly but is
// converted like the others: x_t = 3u · (|t| + |t − max|).
//
// Scores off by δ_j change the weights w_j to w_j·exp(δ_j) / Σ_k w_k·exp(δ_k). To first order
// that is w_j · (δ_j − Σ_k w_k δ_k), so with E = Σ_k w_k (exp(x_k) − 1) ≥ Σ_k w_k x_k no weight and
// no output, in units of max |V|, moves by more than 2E; lse moves by log(1 + E) at most. Weights
// of 0 drop out, however large the error of their score is: a key at −FLT_MAX beside others costs
// nothing. As no weight can be off by more than 1 and no output by more than 2 max |V|, 2E is cut
// off at 2.

namespace simdattn::reference {
namespace {

// Whether scores are anything but scale · q·k, or are masked by a tensor.
bool has_steps(const AttentionTensors& tensors, const AttentionOptions& options) {
  return options.softcap > 0 || options.modifier.modify != nullptr ||
         tensors.alibi_slopes.data != nullptr || tensors.mask.data != nullptr ||
         tensors.sinks.data != nullptr;
}

double grown(double weight, double error) { return weight > 0 ? weight * std::expm1(error) : 0; }

// E of one row, given its scores and weights.
double step_error(const std::vector<Score>& scores, double raw_error, double sink,
                  const double* weights, double lse) {
  double maximum = sink;
  for (const Score& score : scores)
    maximum = std::max(maximum, score.value);
  if (!std::isfinite(maximum) || !std::isfinite(lse)) return 0;
  const double share = 3 * unit_roundoff;
  double error = grown(std::exp(sink - lse), share * (std::abs(sink) + std::abs(sink - maximum)));
  for (std::size_t j = 0; j < scores.size(); ++j)
    error += grown(weights[j], std::max(0.0, scores[j].error - raw_error) +
                                   share * (maximum - scores[j].value));
  return error;
}

double largest_error(const std::vector<Score>& scores) {
  double largest = 0;
  for (const Score& score : scores)
    largest = std::max(largest, score.error);
  return largest;
}

void widen(Bounds& bounds, const Bounds& row) {
  bounds.output = std::max(bounds.output, row.output);
  bounds.weights = std::max(bounds.weights, row.weights);
  bounds.scores = std::max(bounds.scores, row.scores);
  bounds.lse_base = std::max(bounds.lse_base, row.lse_base);
}

// What the bounds of all rows of a call share.
class Call {
public:
  Call(const AttentionTensors& tensors, const AttentionOptions& options)
      : extremes_(extremes_of(tensors, options)), raw_error_(extremes_.raw_score_error(tensors)),
        columns_(column_count(tensors)), steps_(has_steps(tensors, options)) {}

  // Of row `i` of a head; `row` is its place in the dense results.
  Bounds row_bounds(const Sequence& sequence, const HeadScores& head, std::int64_t i,
                    const Expected& expected, std::int64_t row) const {
    if (!sees_any(sequence, head, i)) return {.lse_base = 16 * unit_roundoff + raw_error_};
    double error = 0, scores_error = raw_error_;
    if (steps_) {
      std::vector<Score> scores(static_cast<std::size_t>(sequence.key_count));
      head.row(i, ScoreStage::masked, raw_error_, scores.data());
      error = step_error(scores, raw_error_, head.sink(), &expected.weights[row * columns_],
                         expected.lse[row]);
      scores_error = largest_error(scores);
    }
    const auto keys = static_cast<double>(columns_);
    const double sum = unit_roundoff * (std::min(keys, 512.0) / 3 + keys / 128);
    Bounds bounds;
    bounds.weights = 16 * unit_roundoff + raw_error_ + sum + std::min(2 * error, 2.0);
    bounds.output = bounds.weights * extremes_.value;
    bounds.scores = scores_error;
    bounds.lse_base = 16 * unit_roundoff + raw_error_ + std::log1p(error);
    return bounds;
  }

private:
  static bool sees_any(const Sequence& sequence, const HeadScores& head, std::int64_t i) {
    for (std::int64_t j = 0; j < sequence.key_count; ++j)
      if (head.visible(i, j)) return true;
    return false;
  }

  Extremes extremes_;
  double raw_error_;
  std::int64_t columns_;
  bool steps_;
};

} // namespace

double Bounds::lse(double value) const noexcept {
  return lse_base + (std::isfinite(value) ? unit_roundoff * 2 * std::abs(value) : 0);
}

Tolerance tolerance(const AttentionTensors& tensors, const AttentionOptions& options) {
  return tolerance(tensors, options, attention(tensors, options));
}

Tolerance tolerance(const AttentionTensors& tensors, const AttentionOptions& options,
                    const Expected& expected) {
  const Call call(tensors, options);
  Tolerance result;
  result.rows.resize(expected.lse.size());
  for_each_head(
      tensors, options,
      [&](const Sequence& sequence, auto, const HeadScores& head, std::int64_t first_row) {
        for (std::int64_t i = 0; i < sequence.query_count; ++i)
          result.rows[first_row + i] = call.row_bounds(sequence, head, i, expected, first_row + i);
      });
  for (const Bounds& row : result.rows)
    widen(result, row);
  return result;
}

} // namespace simdattn::reference
