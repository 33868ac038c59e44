#include "reference.hpp"

#include "extremes.hpp"
#include "head.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace simdattn::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The softmax of one row of scores and of a sink, which has no weight of its own; returns the
// log-sum-exp of all. A score of −inf weighs exactly 0; one of +inf or NaN makes every other weight
// and the log-sum-exp NaN.
double softmax_row(const double* scores, std::int64_t keys, double sink, double* weights) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  double maximum = sink;
  for (std::int64_t j = 0; j < keys; ++j)
    if (!(scores[j] <= maximum)) // so that a NaN is taken, and stays
      maximum = std::isnan(maximum) ? maximum : scores[j];
  const bool invalid = !(maximum < infinity);
  double sum = sink == -infinity ? 0 : std::exp(sink - maximum);
  for (std::int64_t j = 0; j < keys; ++j) {
    if (scores[j] == -infinity)
      weights[j] = 0;
    else
      weights[j] = invalid ? nan : std::exp(scores[j] - maximum);
    sum += weights[j];
  }
  if (sum > 0) std::for_each(weights, weights + keys, [sum](double& weight) { weight /= sum; });
  return invalid ? nan : maximum + std::log(sum); // log(0) = −inf: no key weighs anything
}

// output += weight · value, for one key.
void add_weighted(double weight, const double* value, std::int64_t dims, double* output) {
  for (std::int64_t d = 0; d < dims; ++d)
    output[d] += weight * value[d];
}

} // namespace

Expected attention(const AttentionTensors& tensors, const AttentionOptions& options) {
  const std::int64_t rows = tensors.query.size[0] * tensors.query.size[1] * tensors.query.size[2];
  const std::int64_t columns = column_count(tensors), value_dim = tensors.value.size[3];
  Expected expected;
  expected.output.assign(rows * value_dim, 0.0);
  expected.lse.resize(rows);
  expected.weights.resize(rows * columns);
  expected.scores.assign(rows * columns, -infinity);
  std::vector<Score> row(columns);
  for_each_head(tensors, options,
                [&](const Sequence& sequence, std::int64_t head_index, const HeadScores& head,
                    std::int64_t first_row) {
                  const Matrix value = values_of(tensors, sequence, head_index);
                  for (std::int64_t i = 0; i < sequence.query_count; ++i) {
                    double* scores = expected.scores.data() + (first_row + i) * columns;
                    double* weights = expected.weights.data() + (first_row + i) * columns;
                    double* output = expected.output.data() + (first_row + i) * value_dim;
                    head.row(i, ScoreStage::masked, 0, row.data());
                    std::transform(row.begin(), row.begin() + sequence.key_count, scores,
                                   [](const Score& score) { return score.value; });
                    expected.lse[first_row + i] =
                        softmax_row(scores, sequence.key_count, head.sink(), weights);
                    for (std::int64_t j = 0; j < sequence.key_count; ++j)
                      if (head.visible(i, j))
                        add_weighted(weights[j], value.row(j), value_dim, output);
                  }
                });
  return expected;
}

Scores scores(const AttentionTensors& tensors, const AttentionOptions& options, ScoreStage stage) {
  const std::int64_t rows = tensors.query.size[0] * tensors.query.size[1] * tensors.query.size[2];
  const std::int64_t columns = column_count(tensors);
  const Keys keys = stage == ScoreStage::masked ? Keys::visible : Keys::all;
  const double raw_error = extremes_of(tensors, options, keys).raw_score_error(tensors);
  Scores result;
  result.values.assign(rows * columns, -infinity);
  result.errors.assign(rows * columns, 0);
  std::vector<Score> row(columns);
  for_each_head(
      tensors, options,
      [&](const Sequence& sequence, std::int64_t, const HeadScores& head, std::int64_t first_row) {
        for (std::int64_t i = 0; i < sequence.query_count; ++i) {
          head.row(i, stage, raw_error, row.data());
          for (std::int64_t j = 0; j < sequence.key_count; ++j) {
            result.values[(first_row + i) * columns + j] = row[j].value;
            result.errors[(first_row + i) * columns + j] = row[j].error;
          }
        }
      });
  return result;
}

std::vector<double> softmax(const TensorView& scores) {
  std::vector<double> weights;
  for (std::int64_t b = 0; b < scores.size[0]; ++b)
    for (std::int64_t h = 0; h < scores.size[1]; ++h) {
      Matrix matrix = slice(scores, b, h);
      for (std::int64_t i = 0; i < matrix.rows; ++i)
        softmax_row(std::vector<double>(matrix.row(i), matrix.row(i) + matrix.columns).data(),
                    matrix.columns, -infinity, matrix.row(i));
      weights.insert(weights.end(), matrix.elements.begin(), matrix.elements.end());
    }
  return weights;
}

std::vector<double> weighted_sum(const TensorView& weights, const TensorView& value) {
  std::vector<double> output;
  for (std::int64_t b = 0; b < weights.size[0]; ++b)
    for (std::int64_t h = 0; h < weights.size[1]; ++h) {
      const Matrix weight = slice(weights, b, h);
      const Matrix values = slice(value, b, kv_head(h, weights.size[1], value.size[1]));
      for (std::int64_t i = 0; i < weight.rows; ++i) {
        std::vector<double> row(values.columns);
        for (std::int64_t j = 0; j < weight.columns; ++j)
          add_weighted(weight.row(i)[j], values.row(j), values.columns, row.data());
        output.insert(output.end(), row.begin(), row.end());
      }
    }
  return output;
}

} // namespace simdattn::reference
