#include "reference.hpp"

#include "head.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace simdattn::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The softmax of one row of scores; returns its log-sum-exp. A score of −inf weighs exactly 0; one
// of +inf or NaN makes every other weight and the log-sum-exp NaN.
double softmax_row(const double* scores, std::int64_t keys, double* weights) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  double maximum = -infinity;
  for (std::int64_t j = 0; j < keys; ++j)
    if (!(scores[j] <= maximum)) // so that a NaN is taken, and stays
      maximum = std::isnan(maximum) ? maximum : scores[j];
  const bool invalid = !(maximum < infinity);
  double sum = 0;
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
  const std::int64_t batches = tensors.query.size[0], heads = tensors.query.size[1],
                     queries = tensors.query.size[2];
  const std::int64_t keys = tensors.key.size[2];
  const std::int64_t value_dim = tensors.value.size[3];
  const std::int64_t rows = batches * heads * queries;
  Expected expected;
  expected.output.assign(rows * value_dim, 0.0);
  expected.lse.resize(rows);
  expected.weights.resize(rows * keys);
  expected.scores.resize(rows * keys);
  std::int64_t row = 0;
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t h = 0; h < heads; ++h) {
      const HeadScores head(tensors, options, b, h);
      const Matrix value = slice(tensors.value, b, kv_head(h, heads, tensors.value.size[1]));
      for (std::int64_t i = 0; i < queries; ++i, ++row) {
        double* scores = expected.scores.data() + row * keys;
        double* weights = expected.weights.data() + row * keys;
        head.row(i, scores);
        expected.lse[row] = softmax_row(scores, keys, weights);
        for (std::int64_t j = 0; j < keys; ++j)
          if (head.visible(i, j))
            add_weighted(weights[j], value.row(j), value_dim,
                         expected.output.data() + row * value_dim);
      }
    }
  return expected;
}

std::vector<double> softmax(const TensorView& scores) {
  std::vector<double> weights;
  for (std::int64_t b = 0; b < scores.size[0]; ++b)
    for (std::int64_t h = 0; h < scores.size[1]; ++h) {
      Matrix matrix = slice(scores, b, h);
      for (std::int64_t i = 0; i < matrix.rows; ++i)
        softmax_row(std::vector<double>(matrix.row(i), matrix.row(i) + matrix.columns).data(),
                    matrix.columns, matrix.row(i));
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
