// Causal masks when there are not as many queries as keys.

#include "support/implementations.hpp"
#include "support/test_problem.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

AttentionCase causal_case(Causal causal, std::int64_t queries, std::int64_t keys) {
  AttentionCase c;
  c.queries = queries;
  c.keys = keys;
  c.options.causal = causal;
  return c;
}

class Fault11_causal_alignment : public ImplementationTest {
protected:
  // One query, K = 0, V = 1 … 4.
  float of_one_query_on_four_keys(Causal causal) const {
    TestProblem problem(causal_case(causal, 1, 4));
    problem.query.fill(1);
    problem.key.fill(0);
    for (std::int64_t j = 0; j < 4; ++j)
      problem.value.at(0, 0, j, 0) = static_cast<float>(j + 1);
    EXPECT_TRUE(runs_correctly(problem, implementation()));
    return problem.output.at(0, 0, 0, 0);
  }
};

TEST_P(Fault11_causal_alignment, bottom_right_shows_the_last_query_every_key) {
  EXPECT_FLOAT_EQ(of_one_query_on_four_keys(Causal::bottom_right), 2.5f);
}

TEST_P(Fault11_causal_alignment, top_left_shows_the_first_query_the_first_key) {
  EXPECT_EQ(of_one_query_on_four_keys(Causal::top_left), 1.0f);
}

TEST_P(Fault11_causal_alignment, holds_around_every_block_edge) {
  for (const Causal causal : {Causal::top_left, Causal::bottom_right})
    for (const std::int64_t queries : {1, 2, 19, 20, 21, 47, 48, 49, 97})
      for (const std::int64_t keys : {1, 6, 7, 8, 127, 128, 129, 255, 256, 257}) {
        AttentionCase c = causal_case(causal, queries, keys);
        c.heads = 3;
        c.dim = 5;
        c.value_dim = 3;
        ASSERT_TRUE(runs_correctly(c, implementation()));
      }
}

class Fault12_more_queries_than_keys : public ImplementationTest {};

TEST_P(Fault12_more_queries_than_keys, gives_exact_zeros_in_rows_that_see_no_key) {
  AttentionCase c = causal_case(Causal::bottom_right, 3, 2);
  c.dim = c.value_dim = 4;
  TestProblem problem(c);
  problem.fill(1);
  ASSERT_TRUE(runs_correctly(problem, implementation()));
  for (std::int64_t d = 0; d < 4; ++d) {
    EXPECT_EQ(problem.output.at(0, 0, 0, d), 0);
    EXPECT_EQ(problem.output.at(0, 0, 1, d), problem.value.at(0, 0, 0, d));
  }
  EXPECT_EQ(problem.lse.at(0, 0, 0, 0), -INFINITY);
  EXPECT_EQ(problem.weights.at(0, 0, 0, 0), 0);
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault11_causal_alignment);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault12_more_queries_than_keys);

} // namespace
} // namespace simdattn::test
