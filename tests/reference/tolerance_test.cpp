// The oracle's bounds: that they are the design's where nothing but scale · q·k makes a score, that
// they hold for arithmetic in f32, and that they stay useful.

#include "small_call.hpp"

#include <algorithm>
#include <cfloat>
#include <random>

namespace simdattn::test {
namespace {

constexpr double u = 0x1p-24;

void fill(std::vector<float>& values, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
}

TEST(OracleTolerance, IsTheFormulaForPlainScores) {
  SmallCall call({.queries = 2, .keys = 640, .dim = 8});
  std::fill(call.query.begin(), call.query.end(), 0.5f);
  std::fill(call.key.begin(), call.key.end(), 2.0f);
  const double sigma = 8;
  const double base = 16 + (4 + 2) * sigma;
  const reference::Tolerance tolerance = call.tolerance();
  EXPECT_DOUBLE_EQ(tolerance.weights, u * (base + 512.0 / 3 + 5));
  EXPECT_DOUBLE_EQ(tolerance.output, tolerance.weights * 639);
  EXPECT_DOUBLE_EQ(tolerance.scores, u * 6 * sigma);
  EXPECT_DOUBLE_EQ(tolerance.lse(-3), u * (base + 6));
  EXPECT_EQ(tolerance.rows.size(), 2u);
  EXPECT_EQ(tolerance.rows[1].output, tolerance.output);
}

// One row in f32, by the most direct code.
struct Row {
  std::vector<float> weights;
  float output = 0, lse = 0;
};
Row row_in_f32(std::vector<float> scores, const std::vector<float>& values) {
  Row row;
  const float maximum = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (const float score : scores) {
    row.weights.push_back(std::exp2((score - maximum) * 1.44269504f));
    sum += row.weights.back();
  }
  for (std::size_t j = 0; j < values.size(); ++j) {
    row.weights[j] /= sum;
    row.output += row.weights[j] * values[j];
  }
  row.lse = maximum + std::log(sum);
  return row;
}

// N(0, 1) data with softcap, ALiBi and a mask of a given size, against f32.
void expect_bounds_hold(float mask_size, double largest_output_bound) {
  constexpr std::int64_t keys = 65;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    SmallCall call({.keys = keys, .dim = 4});
    fill(call.query, random);
    fill(call.key, random);
    for (float& value : call.value)
      value = std::min(1.0f, std::max(-1.0f, value - 32));
    std::vector<float> mask(keys), scores(keys), values(keys);
    fill(mask, random);
    const float slope = 0.3f, cap = 3;
    call.options.softcap = cap;
    for (std::int64_t j = 0; j < keys; ++j) {
      mask[j] = mask_size * (1 + 0.01f * mask[j] / (1 + std::abs(mask_size)));
      float product = 0;
      for (int d = 0; d < 4; ++d)
        product += call.query[d] * call.key[j * 4 + d];
      scores[j] = cap * std::tanh(product / cap) + slope * static_cast<float>(j);
      scores[j] = std::max(scores[j] + mask[j], lowest);
      values[j] = call.value[j * 4];
    }
    call.tensors.alibi_slopes = per_head(&slope, 1, 1);
    call.tensors.mask = bhsd<const float>(mask.data(), 1, 1, 1, keys);
    const reference::Expected expected = call.attention();
    const reference::Tolerance tolerance = call.tolerance();
    const Row row = row_in_f32(scores, values);
    for (std::int64_t j = 0; j < keys; ++j)
      EXPECT_NEAR(row.weights[j], expected.weights[j], tolerance.weights) << seed << " " << j;
    EXPECT_NEAR(row.output, expected.output[0], tolerance.output) << seed;
    EXPECT_NEAR(row.lse, expected.lse[0], tolerance.lse(expected.lse[0])) << seed;
    EXPECT_LT(tolerance.output, largest_output_bound);
  }
}

TEST(OracleTolerance, HoldsForMasksOfEverySize) {
  expect_bounds_hold(0, 3e-5);
  expect_bounds_hold(-30, 5e-5);
  expect_bounds_hold(-3000, 2e-3);
  expect_bounds_hold(-1e6f, 1);
  expect_bounds_hold(-1e9f, 2.1);
  expect_bounds_hold(-1e20f, 3e-5);
  expect_bounds_hold(-FLT_MAX / 4, 3e-5);
  expect_bounds_hold(1e5f, 0.1);
}

TEST(OracleTolerance, RowsDoNotShareTheErrorOfAMask) {
  SmallCall call({.queries = 2, .keys = 2});
  const std::vector<float> mask{-1e6f, -1e6f, 0, -1e6f};
  call.query = {1, 1};
  call.key = {1, 2};
  call.tensors.mask = bhsd(mask.data(), 1, 1, 2, 2);
  const reference::Tolerance tolerance = call.tolerance();
  EXPECT_GT(tolerance.rows[0].output, 0.01);
  EXPECT_LT(tolerance.rows[1].output, 1e-5);
  EXPECT_EQ(tolerance.output, tolerance.rows[0].output);
}

TEST(OracleTolerance, ExcludedKeysDoNotCount) {
  SmallCall call({.keys = 3});
  call.query = {1};
  call.key = {1, 1e30f, nan};
  call.value = {1, 1e30f, nan};
  call.options.causal = Causal::top_left;
  EXPECT_LT(call.tolerance().output, 1e-5);
}

} // namespace
} // namespace simdattn::test
