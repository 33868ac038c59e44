// What must hold of any correct attention, whatever the oracle says.

#include "support/effort.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace simdattn::test {
namespace {

AttentionCase sized(std::int64_t queries, std::int64_t keys, std::int64_t dim = 24,
                    std::int64_t value_dim = 10) {
  AttentionCase c;
  c.heads = 2;
  c.kv_heads = 1;
  c.queries = queries;
  c.keys = keys;
  c.dim = dim;
  c.value_dim = value_dim;
  return c;
}

class Properties : public ImplementationTest {
protected:
  TestProblem solved(const AttentionCase& c, float query_deviation = 1) const {
    TestProblem problem(c);
    problem.fill(11, query_deviation);
    EXPECT_OK(problem.run(implementation()));
    return problem;
  }

  void expect_mean_of_values(TestProblem& problem) const {
    ASSERT_TRUE(runs_correctly(problem, implementation()));
    const Shape& shape = problem.output.shape();
    for (std::int64_t d = 0; d < shape.dim; ++d) {
      double mean = 0;
      for (std::int64_t j = 0; j < problem.description.keys; ++j)
        mean += problem.value.at(0, 0, j, d) / static_cast<double>(problem.description.keys);
      for (std::int64_t i = 0; i < shape.seq; ++i)
        ASSERT_NEAR(problem.output.at(0, 1, i, d), mean, 2e-6) << "row " << i;
    }
  }
};

TEST_P(Properties, rows_of_weights_sum_to_1) {
  for (const std::int64_t keys : {1, 7, 100, 515}) {
    const TestProblem problem = solved(sized(33, keys), 3);
    for (std::int64_t i = 0; i < 33; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < keys; ++j) {
        const float weight = problem.weights.at(0, 1, i, j);
        ASSERT_GE(weight, 0);
        sum += weight;
      }
      ASSERT_NEAR(sum, 1, 1e-6) << keys << " keys, row " << i;
    }
  }
}

TEST_P(Properties, the_order_of_keys_does_not_matter) {
  TestProblem problem = solved(sized(40, 200)), permuted(problem.description);
  permuted.fill_from(problem);
  std::vector<std::int64_t> order(200);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  for (std::int64_t j = 0; j < 200; ++j) {
    for (std::int64_t d = 0; d < problem.key.shape().dim; ++d)
      permuted.key.at(0, 0, j, d) = problem.key.at(0, 0, order[static_cast<std::size_t>(j)], d);
    for (std::int64_t d = 0; d < problem.value.shape().dim; ++d)
      permuted.value.at(0, 0, j, d) = problem.value.at(0, 0, order[static_cast<std::size_t>(j)], d);
  }
  ASSERT_OK(permuted.run(implementation()));
  const std::vector<double> output = elements_of(problem.output.view()),
                            lse = elements_of(problem.lse.view());
  const double tolerance = 2 * problem.tolerance().output;
  EXPECT_TRUE(elements_fulfil(permuted.output, [&](std::size_t i) {
    return Demand{output[i], tolerance};
  }));
  EXPECT_TRUE(elements_fulfil(permuted.lse, [&](std::size_t i) { return Demand{lse[i], 1e-5}; }));
}

TEST_P(Properties, a_constant_value_comes_back) {
  for (const float constant : {1.0f, -3.5f, 1e30f, 1e-30f}) {
    TestProblem problem(sized(50, 300));
    problem.fill(1, 4);
    problem.value.fill(constant);
    ASSERT_OK(problem.run(implementation()));
    ASSERT_TRUE(elements_fulfil(problem.output, [&](std::size_t) {
      return Demand{constant, std::abs(constant) * 2e-6};
    }));
  }
}

TEST_P(Properties, one_key_gives_its_value_to_the_bit) {
  for (const float deviation : {1.0f, 50.0f}) {
    const TestProblem problem = solved(sized(30, 1), deviation);
    for_each_index(problem.output.shape(), [&](auto b, auto h, auto i, auto d) {
      ASSERT_TRUE(same_bits(problem.output.at(b, h, i, d), problem.value.at(0, 0, 0, d)));
    });
    EXPECT_EQ(problem.weights.at(0, 1, 29, 0), 1);
  }
}

TEST_P(Properties, one_score_far_above_the_rest_gives_its_value_to_the_bit) {
  for (const std::int64_t winner : {0, 5, 8, 127, 128, 299}) {
    TestProblem problem(sized(30, 300, 4));
    problem.fill(2);
    problem.query.fill(1);
    problem.key.fill_row(0, 0, winner, 5e3f); // a score of 1e4
    ASSERT_TRUE(runs_correctly(problem, implementation()));
    for_each_index(problem.output.shape(), [&](auto b, auto h, auto i, auto d) {
      ASSERT_TRUE(same_bits(problem.output.at(b, h, i, d), problem.value.at(0, 0, winner, d)))
          << winner;
    });
  }
}

TEST_P(Properties, scale_0_gives_the_mean_of_the_values) {
  AttentionCase c = sized(20, 150);
  c.options.scale = 0.0f;
  TestProblem problem(c);
  problem.fill(3);
  expect_mean_of_values(problem);
}

TEST_P(Properties, a_query_of_zeros_gives_the_mean_of_the_values) {
  TestProblem problem(sized(20, 150));
  problem.fill(4);
  problem.query.fill(0);
  expect_mean_of_values(problem);
}

TEST_P(Properties, equal_keys_give_the_mean_of_the_values) {
  TestProblem problem(sized(20, 150));
  problem.fill(5);
  for (std::int64_t j = 1; j < 150; ++j)
    for (std::int64_t d = 0; d < 24; ++d)
      problem.key.at(0, 0, j, d) = problem.key.at(0, 0, 0, d);
  expect_mean_of_values(problem);
}

// Rows of keys of any score: weights far below the largest are exactly 0.
TEST_P(Properties, weights_below_2_to_the_minus_63_and_a_half_are_exactly_0) {
  TestProblem problem = solved(sized(30, 200), 40);
  const reference::Expected expected = problem.expected();
  const std::vector<double> weights = elements_of(problem.weights.view());
  std::size_t zeros = 0;
  for (std::size_t row = 0; row < weights.size(); row += 200) {
    const double largest =
        *std::max_element(expected.scores.begin() + static_cast<std::ptrdiff_t>(row),
                          expected.scores.begin() + static_cast<std::ptrdiff_t>(row + 200));
    for (std::size_t i = row; i < row + 200; ++i)
      if (expected.scores[i] < largest - 63.51 * std::log(2)) {
        ASSERT_EQ(weights[i], 0);
        ++zeros;
      }
  }
  EXPECT_GT(zeros, 1000u);
}

// Partial results over two ranges of keys merge through their log-sum-exp, as flash decoding and
// ring attention do.
TEST_P(Properties, results_over_ranges_of_keys_merge_through_the_log_sum_exp) {
  TestProblem whole = solved(sized(20, 150));
  AttentionTensors first = whole.tensors(), second = whole.tensors();
  TestTensor outputs[2] = {TestTensor(whole.output.shape(), Layout::bhsd),
                           TestTensor(whole.output.shape(), Layout::bhsd)};
  TestTensor lses[2] = {TestTensor(whole.lse.shape(), Layout::bhsd),
                        TestTensor(whole.lse.shape(), Layout::bhsd)};
  constexpr std::int64_t cut = 61;
  for (TensorView* view : {&second.key, &second.value}) {
    view->data = static_cast<const float*>(view->data) + cut * view->stride[2];
    view->size[2] = 150 - cut;
  }
  first.key.size[2] = first.value.size[2] = cut;
  AttentionTensors* parts[2] = {&first, &second};
  for (int p = 0; p < 2; ++p) {
    parts[p]->output = outputs[p].mutable_view();
    parts[p]->lse = lses[p].mutable_view();
    parts[p]->weights = {};
    Context context;
    context.implementation = implementation();
    ASSERT_OK(scaled_dot_product_attention(*parts[p], {}, context));
  }
  const double tolerance = 3 * whole.tolerance().output;
  for_each_index(whole.output.shape(), [&](auto b, auto h, auto i, auto d) {
    const double lse = whole.lse.at(b, h, i, 0);
    const double merged = std::exp(lses[0].at(b, h, i, 0) - lse) * outputs[0].at(b, h, i, d) +
                          std::exp(lses[1].at(b, h, i, 0) - lse) * outputs[1].at(b, h, i, d);
    ASSERT_NEAR(whole.output.at(b, h, i, d), merged, tolerance);
  });
}

// The bound for random data, far below the one for adversarial data.
TEST_P(Properties, random_data_stay_within_2e_6_of_the_largest_value) {
  for (const std::int64_t dim : {32, 64, 128, 256})
    for (const std::int64_t keys : {100, 1000, 16384}) {
      if (keys > effort(16384, 100)) continue;
      AttentionCase c = sized(5, keys, dim, 16);
      c.want_weights = false;
      TestProblem problem = solved(c);
      double largest = 0;
      for (const double value : elements_of(problem.value.view()))
        largest = std::max(largest, std::abs(value));
      ASSERT_LE(largest_error(problem.output, problem.expected().output), 2e-6 * largest) << c;
    }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Properties);

} // namespace
} // namespace simdattn::test
