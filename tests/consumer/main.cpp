// A program outside the project: one attention call with causal and grouped heads, checked against the formula.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

#include <simdattn/simdattn.hpp>

namespace {

constexpr int query_heads = 4, key_heads = 2, queries = 37, keys = 70, dim = 24, value_dim = 17;

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return values;
}

// One row of softmax(scale · Q Kᵀ) V, its first visible_keys keys; the formula as it is written.
std::vector<double> expected_row(const float* query, const float* key, const float* value, int visible_keys) {
  std::vector<double> row(value_dim, 0.0);
  double sum = 0.0;
  for (int j = 0; j < visible_keys; ++j) {
    double score = 0.0;
    for (int d = 0; d < dim; ++d) score += double{query[d]} * double{key[j * dim + d]};
    const double weight = std::exp(score / std::sqrt(double{dim}));
    sum += weight;
    for (int d = 0; d < value_dim; ++d) row[std::size_t(d)] += weight * double{value[j * value_dim + d]};
  }
  for (double& element : row) element /= sum;
  return row;
}

double largest_error(const float* query, const float* key, const float* value, const float* output) {
  double largest = 0.0;
  for (int h = 0; h < query_heads; ++h) {
    const int key_head = h / (query_heads / key_heads);
    for (int i = 0; i < queries; ++i) {
      const int row = h * queries + i;
      const std::vector<double> expected =
          expected_row(query + row * dim, key + key_head * keys * dim, value + key_head * keys * value_dim,
                       i + keys - queries + 1);
      for (int d = 0; d < value_dim; ++d) {
        const double error = std::fabs(expected[std::size_t(d)] - double{output[row * value_dim + d]});
        if (!(error <= largest)) largest = error; // NaN stays
      }
    }
  }
  return largest;
}

} // namespace

int main() {
  const std::vector<float> query = numbers(query_heads * queries * dim, 1);
  const std::vector<float> key = numbers(key_heads * keys * dim, 2);
  const std::vector<float> value = numbers(key_heads * keys * value_dim, 3);
  std::vector<float> output(query_heads * queries * value_dim);

  simdattn::AttentionTensors tensors;
  tensors.query = simdattn::bhsd(query.data(), 1, query_heads, queries, dim);
  tensors.key = simdattn::bhsd(key.data(), 1, key_heads, keys, dim);
  tensors.value = simdattn::bhsd(value.data(), 1, key_heads, keys, value_dim);
  tensors.output = simdattn::bhsd(output.data(), 1, query_heads, queries, value_dim);
  simdattn::AttentionOptions options;
  options.causal = simdattn::Causal::bottom_right;
  simdattn::Context context;
  context.threads = 2;
  const simdattn::Status status = simdattn::scaled_dot_product_attention(tensors, options, context);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message());
    return 1;
  }

  const simdattn::Implementation* implementation = nullptr;
  if (!simdattn::active_implementation(&implementation).ok()) return 1;
  const double error = largest_error(query.data(), key.data(), value.data(), output.data());
  std::printf("simdattn %s, %s: largest error %.3g\n", simdattn::version(),
              simdattn::implementation_name(implementation), error);
  return error <= 2e-6 ? 0 : 1;
}
