#include "lesson.hpp"

#include "error.hpp"
#include "simdattn/simdattn.hpp"
#include "verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

namespace simdattn::command {
namespace {

constexpr unsigned seed = 2017; // the year of "Attention Is All You Need"

struct Inputs {
  Array query, key, value;
};

AttentionTensors tensors_of(const Inputs& inputs, Array& output) {
  AttentionTensors tensors;
  tensors.query = tensor_view(inputs.query);
  tensors.key = tensor_view(inputs.key);
  tensors.value = tensor_view(inputs.value);
  tensors.output = mutable_view(output);
  return tensors;
}

Array make_array(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  return zeros(DataType::f32, {batch, rows, columns});
}

Array make_output(const Inputs& inputs) {
  return make_array(inputs.query.shape[0], inputs.query.shape[1], inputs.value.shape[2]);
}

std::size_t element_count(const Array& array) { return array.data.size() / sizeof(float); }

// The beginning of the first row.
void print_numbers(const char* name, const Array& array) {
  std::printf("   %-18s =", (std::string(name) + "[0, 0, :5]").c_str());
  for (int i = 0; i < 5; ++i)
    std::printf(" %10.6f", static_cast<double>(values(array)[i]));
  std::printf("\n");
}

double standard_deviation(const Array& array) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < element_count(array); ++i) {
    const double value = values(array)[i];
    sum += value;
    squares += value * value;
  }
  const double mean = sum / static_cast<double>(element_count(array));
  return std::sqrt(squares / static_cast<double>(element_count(array)) - mean * mean);
}

Array scores_step(const Inputs& inputs, std::optional<float> scale) {
  AttentionOptions options;
  options.scale = scale;
  Array scores = make_array(inputs.query.shape[0], inputs.query.shape[1], inputs.key.shape[1]);
  require_ok(attention_scores(tensor_view(inputs.query), tensor_view(inputs.key),
                              mutable_view(scores), options));
  print_numbers("scores", scores);
  std::printf("   standard deviation of all scores: %.3f\n", standard_deviation(scores));
  return scores;
}

void print_row_sums(const Array& weights) {
  const std::size_t columns = static_cast<std::size_t>(weights.shape[2]);
  const std::size_t rows = element_count(weights) / columns;
  double furthest = 0;
  std::printf("   row sums of batch 0:");
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t j = 0; j < columns; ++j)
      sum += static_cast<double>(values(weights)[row * columns + j]);
    if (row < static_cast<std::size_t>(weights.shape[1])) std::printf(" %.6f", sum);
    furthest = std::max(furthest, std::abs(sum - 1));
  }
  std::printf("\n   furthest from 1 among all %zu rows: %.1e\n", rows, furthest);
}

Array softmax_step(const Array& scores) {
  Array weights = zeros(DataType::f32, scores.shape);
  require_ok(attention_softmax(tensor_view(scores), mutable_view(weights)));
  print_numbers("weights", weights);
  print_row_sums(weights);
  return weights;
}

Array weighted_sum_step(const Inputs& inputs, const Array& weights) {
  Array output = make_output(inputs);
  require_ok(attention_weighted_sum(tensor_view(weights), tensor_view(inputs.value),
                                    mutable_view(output)));
  print_numbers("output", output);
  return output;
}

bool walk(const Inputs& inputs, Array& weights) {
  std::printf("1. Scores: the dot product of every query with every key, Q Kᵀ\n"
              "   (4, 10, 64) × (4, 64, 10) → (4, 10, 10)\n");
  scores_step(inputs, 1.0f);
  std::printf("\n2. Scale: divided by √64 = 8, the scores spread no more when dim grows\n"
              "   (4, 10, 10)\n");
  const Array scores = scores_step(inputs, std::nullopt);
  std::printf("\n3. Softmax: each row of scores becomes weights, exp(score) / Σ exp(score)\n"
              "   (4, 10, 10) → (4, 10, 10)\n");
  weights = softmax_step(scores);
  std::printf("\n4. Weighted sum: each query gets the mean of the values by its weights\n"
              "   (4, 10, 10) × (4, 10, 64) → (4, 10, 64)\n");
  Array staged = weighted_sum_step(inputs, weights);
  std::printf("\n5. All at once: scaled_dot_product_attention, which never holds all scores\n"
              "   (4, 10, 64), (4, 10, 64), (4, 10, 64) → (4, 10, 64)\n");
  Array fused = make_output(inputs);
  require_ok(scaled_dot_product_attention(tensors_of(inputs, fused)));
  print_numbers("output", fused);

  AttentionTensors tensors = tensors_of(inputs, staged);
  tensors.weights = mutable_view(weights);
  std::printf("\nAgainst the formula in double precision, steps 3 and 4:\n");
  const bool staged_right = print_deviations(verify(tensors, {}));
  std::printf("and step 5:\n");
  return print_deviations(verify(tensors_of(inputs, fused), {})) && staged_right;
}

// The other example of the lesson: values may be wider than queries and keys.
bool wider_values() {
  const Inputs inputs{random_normal({8, 128, 32}, seed + 3), random_normal({8, 128, 32}, seed + 4),
                      random_normal({8, 128, 64}, seed + 5)};
  std::printf("\nValues may have a dim of their own: (8, 128, 32), (8, 128, 32), (8, 128, 64) → "
              "(8, 128, 64)\n");
  Array output = make_output(inputs);
  require_ok(scaled_dot_product_attention(tensors_of(inputs, output)));
  return print_deviations(verify(tensors_of(inputs, output), {}));
}

} // namespace

Array random_normal(const Shape& shape, unsigned array_seed) {
  Array array = zeros(DataType::f32, shape);
  std::mt19937 generator(array_seed);
  std::normal_distribution<float> normal;
  std::generate_n(values(array), element_count(array), [&] { return normal(generator); });
  return array;
}

Lesson teach() {
  const Inputs inputs{random_normal({4, 10, 64}, seed), random_normal({4, 10, 64}, seed + 1),
                      random_normal({4, 10, 64}, seed + 2)};
  std::printf("Attention(Q, K, V) = softmax(Q Kᵀ / √dim) V, step by step\n\n"
              "0. Input: query, key and value, each (4, 10, 64) = (batch, sequence, dim), drawn "
              "from N(0, 1)\n");
  print_numbers("query", inputs.query);
  print_numbers("key", inputs.key);
  print_numbers("value", inputs.value);
  std::printf("\n");
  Lesson lesson;
  lesson.right = walk(inputs, lesson.weights);
  lesson.right = wider_values() && lesson.right;
  return lesson;
}

} // namespace simdattn::command
