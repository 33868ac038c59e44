// The steps of the formula one by one: scores, softmax, weighted sum.

#include "simdattn/staged.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>
#include <vector>

namespace simdattn::test {
namespace {

constexpr double unit_roundoff = 0x1p-24;

class Staged : public ImplementationTest {
protected:
  Context context(int threads = 1) const {
    Context context;
    context.implementation = implementation();
    context.threads = threads;
    return context;
  }

  // All three steps, each against the oracle: the first on query and key, the others on what the
  // step before wrote.
  void walk(const AttentionCase& description);
};

void expect_near(const TestTensor& actual, const std::vector<double>& expected, double tolerance) {
  EXPECT_TRUE(elements_fulfil(actual, [&](std::size_t i) {
    return Demand{expected[i], std::isinf(expected[i]) || expected[i] == 0 ? 0 : tolerance};
  }));
  EXPECT_TRUE(actual.gaps_untouched());
}

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values)
    largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  return largest;
}

// The rounding of a sum of `keys` products, and of a softmax of them, in units of the last place
// of 1.
double sum_rounding(std::int64_t keys) {
  return 16 + std::min(static_cast<double>(keys), 512.0) / 3 + static_cast<double>(keys) / 128;
}

void Staged::walk(const AttentionCase& c) {
  std::ostringstream text;
  text << c;
  SCOPED_TRACE(text.str());
  TestProblem problem(c);
  problem.fill(3);
  TestTensor scores({c.batch, c.heads, c.queries, c.keys}, c.output_layout, c.placement);
  ASSERT_OK(attention_scores(problem.query.view(), problem.key.view(), scores.mutable_view(),
                             c.options, context(c.threads)));
  EXPECT_TRUE(scores_match(scores, problem.expected(), problem.tolerance()));
  EXPECT_TRUE(scores.gaps_untouched());

  ASSERT_OK(attention_softmax(scores.view(), problem.weights.mutable_view(), context(c.threads)));
  expect_near(problem.weights, reference::softmax(scores.view()),
              unit_roundoff *
                  (sum_rounding(c.keys) + 4 * largest_magnitude(elements_of(scores.view()))));

  ASSERT_OK(attention_weighted_sum(problem.weights.view(), problem.value.view(),
                                   problem.output.mutable_view(), context(c.threads)));
  expect_near(problem.output, reference::weighted_sum(problem.weights.view(), problem.value.view()),
              unit_roundoff * sum_rounding(c.keys) *
                  largest_magnitude(elements_of(problem.value.view())));
}

TEST_P(Staged, has_the_shapes_of_the_lesson) {
  AttentionCase lesson;
  lesson.batch = 4;
  lesson.queries = lesson.keys = 10;
  lesson.dim = lesson.value_dim = 64;
  walk(lesson);
}

TEST_P(Staged, has_the_shapes_of_the_lesson_with_wider_values) {
  AttentionCase lesson;
  lesson.batch = 8;
  lesson.queries = lesson.keys = 128;
  lesson.dim = 32;
  lesson.value_dim = 64;
  walk(lesson);
}

TEST_P(Staged, crosses_tile_edges_in_every_layout) {
  for (const std::int64_t queries : {1, 5, 24, 49})
    for (const std::int64_t keys : {1, 7, 130, 300})
      for (const Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right})
        for (const Layout layout : output_layouts) {
          AttentionCase c;
          c.batch = 2;
          c.heads = 4;
          c.kv_heads = 2;
          c.queries = queries;
          c.keys = keys;
          c.dim = 19;
          c.value_dim = 13;
          c.options.causal = causal;
          c.query_layout = c.key_layout = c.value_layout = c.output_layout = layout;
          c.placement = queries % 2 == 0 ? Placement::back : Placement::front;
          c.threads = keys % 2 == 0 ? 1 : 3;
          walk(c);
        }
}

// A tensor with one row of elements.
TestTensor row_of(const std::vector<float>& elements) {
  TestTensor row({1, 1, 1, static_cast<std::int64_t>(elements.size())}, Layout::bhsd);
  for (std::size_t j = 0; j < elements.size(); ++j)
    row.at(0, 0, 0, static_cast<std::int64_t>(j)) = elements[j];
  return row;
}

class StagedSoftmax : public Staged {
protected:
  std::vector<double> softmax(const std::vector<float>& scores) const {
    const TestTensor input = row_of(scores);
    TestTensor weights(input.shape(), Layout::bhsd);
    EXPECT_OK(attention_softmax(input.view(), weights.mutable_view(), context()));
    return elements_of(weights.view());
  }
};

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::NanSensitiveDoubleEq;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST_P(StagedSoftmax, of_minus_infinity_is_exactly_0) {
  EXPECT_THAT(softmax({-infinity, 2, -infinity}), ElementsAre(0, 1, 0));
  EXPECT_THAT(softmax({-infinity, -infinity}), ElementsAre(0, 0));
}

TEST_P(StagedSoftmax, of_plus_infinity_or_nan_is_nan_but_at_minus_infinity) {
  for (const float culprit : {infinity, nan})
    EXPECT_THAT(softmax({1, -infinity, culprit, 3}),
                ElementsAre(NanSensitiveDoubleEq(not_a_number), 0,
                            NanSensitiveDoubleEq(not_a_number),
                            NanSensitiveDoubleEq(not_a_number)));
}

TEST_P(StagedSoftmax, of_the_largest_and_smallest_finite_scores_is_that_of_equal_scores) {
  for (const float score : {-FLT_MAX, FLT_MAX, -FLT_MAX / 2, 3e38f, -3e38f, 1e-45f})
    EXPECT_THAT(softmax(std::vector<float>(4, score)), Each(0.25)) << score;
}

TEST_P(StagedSoftmax, far_below_the_maximum_is_exactly_0) {
  EXPECT_THAT(softmax({0, -64, -100, -1e30f, -FLT_MAX}), ElementsAre(1, 0, 0, 0, 0));
}

TEST_P(Staged, scores_of_hidden_keys_are_minus_infinity_whatever_the_keys_hold) {
  AttentionCase c;
  c.queries = c.keys = 40;
  c.dim = 6;
  c.options.causal = Causal::top_left;
  TestProblem problem(c);
  problem.fill(1);
  for (std::int64_t j = 20; j < 40; ++j)
    problem.key.fill_row(0, 0, j, j % 2 == 0 ? nan : infinity);
  TestTensor scores(problem.weights.shape(), Layout::bhsd);
  ASSERT_OK(attention_scores(problem.query.view(), problem.key.view(), scores.mutable_view(),
                             c.options, context()));
  EXPECT_TRUE(scores_match(scores, problem.expected(), problem.tolerance()));
  EXPECT_EQ(scores.at(0, 0, 19, 20), -infinity);
  EXPECT_TRUE(std::isnan(scores.at(0, 0, 20, 20)));
}

TEST_P(Staged, weighted_sum_is_a_plain_product) {
  const TestTensor weights = row_of({0, 1});
  TestTensor value({1, 1, 2, 2}, Layout::bhsd), output({1, 1, 1, 2}, Layout::bhsd);
  value.fill_row(0, 0, 0, infinity);
  value.fill_row(0, 0, 1, 5);
  value.at(0, 0, 0, 1) = 7;
  ASSERT_OK(attention_weighted_sum(weights.view(), value.view(), output.mutable_view(), context()));
  EXPECT_TRUE(std::isnan(output.at(0, 0, 0, 0)));
  EXPECT_EQ(output.at(0, 0, 0, 1), 5);
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Staged);
SIMDATTN_FOR_EACH_IMPLEMENTATION(StagedSoftmax);

} // namespace
} // namespace simdattn::test
