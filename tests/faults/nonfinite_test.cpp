// NaN and infinity: where they must arrive, and where they must not.

#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace simdattn::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class Fault04_nan_query : public ImplementationTest {};

TEST_P(Fault04_nan_query, gives_nan_in_its_row_only) {
  for (const std::int64_t keys : {1, 3, 7, 15, 16, 17, 300})
    for (const std::int64_t nan_row : {0, 2, 30}) {
      AttentionCase c;
      c.queries = 31;
      c.keys = keys;
      c.dim = c.value_dim = 4;
      TestProblem problem(c);
      problem.fill(keys);
      problem.query.at(0, 0, nan_row, 3) = nan;
      ASSERT_TRUE(runs_correctly(problem, implementation()));
      for (std::int64_t i = 0; i < c.queries; ++i)
        ASSERT_EQ(std::isnan(problem.output.at(0, 0, i, 0)), i == nan_row) << c << ", row " << i;
    }
}

class Fault05_excluded_keys : public ImplementationTest {};

// Key 1 of two lies past the diagonal of row 0 and on that of row 1.
TEST_P(Fault05_excluded_keys, leak_nothing_in_the_smallest_case) {
  AttentionCase c;
  c.queries = c.keys = 2;
  c.dim = c.value_dim = 4;
  c.options.causal = Causal::top_left;
  for (const float poison : {nan, infinity, -infinity})
    for (const bool in_key : {true, false}) {
      TestProblem problem(c);
      for (TestTensor* tensor : {&problem.query, &problem.key, &problem.value})
        for_each_index(tensor->shape(), [&](auto b, auto h, auto i, auto d) {
          tensor->at(b, h, i, d) = static_cast<float>(4 * i + d);
        });
      (in_key ? problem.key : problem.value).fill_row(0, 0, 1, poison);
      ASSERT_TRUE(runs_correctly(problem, implementation()));
      for (std::int64_t d = 0; d < 4; ++d)
        EXPECT_EQ(problem.output.at(0, 0, 0, d), static_cast<float>(d)) << poison;
      EXPECT_EQ(problem.weights.at(0, 0, 0, 1), 0);
    }
}

// From some key on, everything that lies past the diagonal is not finite: rows above see none of
// it.
TEST_P(Fault05_excluded_keys, leak_nothing_at_any_tile) {
  for (const Causal causal : {Causal::top_left, Causal::bottom_right})
    for (const Layout layout : {Layout::bhsd, Layout::dim_outermost})
      for (const std::int64_t first_poisoned : {1, 9, 40, 47, 64, 99}) {
        AttentionCase c;
        c.heads = 2;
        c.queries = c.keys = 100;
        c.dim = 11;
        c.value_dim = 14;
        c.options.causal = causal;
        c.key_layout = c.value_layout = layout;
        TestProblem clean(c), poisoned(c);
        clean.fill(7);
        poisoned.fill_from(clean);
        for (std::int64_t j = first_poisoned; j < c.keys; ++j) {
          poisoned.key.fill_row(0, 0, j, j % 2 == 0 ? nan : infinity);
          poisoned.value.fill_row(0, 0, j, j % 3 == 0 ? nan : -infinity);
        }
        ASSERT_OK(clean.run(implementation()));
        ASSERT_TRUE(runs_correctly(poisoned, implementation()));
        for (std::int64_t i = 0; i < first_poisoned; ++i)
          for (std::int64_t h = 0; h < c.heads; ++h)
            for (std::int64_t d = 0; d < c.value_dim; ++d)
              ASSERT_TRUE(same_bits(poisoned.output.at(0, h, i, d), clean.output.at(0, h, i, d)))
                  << c << ", poisoned from " << first_poisoned << ", row " << i;
      }
}

TEST_P(Fault05_excluded_keys, leak_nothing_in_rows_that_see_no_key) {
  AttentionCase c;
  c.queries = 40;
  c.keys = 5;
  c.dim = c.value_dim = 8;
  c.options.causal = Causal::bottom_right;
  TestProblem problem(c);
  problem.fill(1);
  problem.value.fill(nan);
  problem.key.fill(infinity);
  ASSERT_TRUE(runs_correctly(problem, implementation()));
  EXPECT_EQ(problem.output.at(0, 0, 34, 0), 0);
  EXPECT_TRUE(std::isnan(problem.output.at(0, 0, 35, 0)));
}

// What the contract says of non-finite numbers that are visible.
class Fault05_visible_keys : public ImplementationTest {
protected:
  AttentionCase description() const {
    AttentionCase c;
    c.queries = 30;
    c.keys = 70;
    c.dim = 3;
    c.value_dim = 6;
    return c;
  }
};

TEST_P(Fault05_visible_keys, with_nan_give_nan_in_the_rows_that_see_them) {
  AttentionCase c = description();
  c.options.causal = Causal::top_left;
  TestProblem problem(c);
  problem.fill(2);
  problem.key.at(0, 0, 17, 1) = nan;
  ASSERT_TRUE(runs_correctly(problem, implementation()));
  for (std::int64_t i = 0; i < c.queries; ++i)
    EXPECT_EQ(std::isnan(problem.lse.at(0, 0, i, 0)), i >= 17) << i;
}

TEST_P(Fault05_visible_keys, with_a_value_that_is_not_finite_spoil_its_column_only) {
  TestProblem problem(description());
  for (const float poison : {nan, infinity, -infinity}) {
    problem.fill(3);
    problem.value.at(0, 0, 69, 4) = poison;
    ASSERT_TRUE(runs_correctly(problem, implementation()));
    for (std::int64_t d = 0; d < 6; ++d)
      EXPECT_EQ(std::isfinite(problem.output.at(0, 0, 12, d)), d != 4);
  }
}

TEST_P(Fault05_visible_keys, whose_score_is_minus_infinity_weigh_nothing) {
  for (const std::int64_t hidden : {0, 1, 16, 33, 69}) {
    TestProblem problem(description());
    problem.fill(4);
    problem.query.fill(0.5f);
    problem.key.fill_row(0, 0, hidden, -infinity);
    ASSERT_TRUE(runs_correctly(problem, implementation()));
    EXPECT_EQ(problem.weights.at(0, 0, 3, hidden), 0);
    EXPECT_TRUE(std::isfinite(problem.output.at(0, 0, 3, 0)));
  }
}

TEST_P(Fault05_visible_keys, whose_scores_are_all_minus_infinity_give_0) {
  TestProblem problem(description());
  problem.fill(5);
  problem.query.fill(1);
  problem.key.fill(-infinity);
  ASSERT_TRUE(runs_correctly(problem, implementation()));
  EXPECT_EQ(problem.output.at(0, 0, 0, 0), 0);
  EXPECT_EQ(problem.lse.at(0, 0, 0, 0), -infinity);
}

TEST_P(Fault05_visible_keys, with_a_score_of_plus_infinity_give_nan_in_that_row_only) {
  for (const std::int64_t loud : {0, 20, 69}) {
    TestProblem problem(description());
    problem.fill(6);
    problem.query.fill_row(0, 0, 11, 3e38f);
    problem.key.fill_row(0, 0, loud, 1e38f);
    problem.query.at(0, 0, 10, 0) = 0, problem.query.at(0, 0, 10, 1) = 0,
                               problem.query.at(0, 0, 10, 2) = 0;
    ASSERT_OK(problem.run(implementation()));
    EXPECT_TRUE(std::isnan(problem.output.at(0, 0, 11, 0)));
    EXPECT_TRUE(std::isfinite(problem.output.at(0, 0, 10, 0)));
  }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault04_nan_query);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault05_excluded_keys);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault05_visible_keys);

} // namespace
} // namespace simdattn::test
