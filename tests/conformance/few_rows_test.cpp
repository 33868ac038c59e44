// Few query rows of one key/value head, whose scores share vectors: every number of rows, and of
// keys in the last vector, with what may come between product and softmax.

#include "support/implementations.hpp"
#include "support/test_problem.hpp"

#include <gtest/gtest.h>
#include <random>

namespace simdattn::test {
namespace {

class FewRows : public ImplementationTest {
protected:
  // The problem and its others are given to prepare().
  template <class Prepare>
  void expect_correct(Prepare&& prepare) const {
    for (std::int64_t group = 1; group <= 9; ++group)
      for (const std::int64_t keys : {1, 2, 7, 8, 9, 15, 33, 300, 1030}) {
        AttentionCase c;
        c.heads = 2 * group;
        c.kv_heads = 2;
        c.keys = keys;
        c.dim = 20;
        c.value_dim = 19;
        c.want_weights = keys == 33;
        TestProblem problem(c);
        problem.fill(5, 3);
        prepare(problem);
        ASSERT_TRUE(runs_correctly(problem, implementation())) << problem.description;
      }
  }
};

TEST_P(FewRows, are_right) {
  expect_correct([](TestProblem&) {});
}

TEST_P(FewRows, are_right_with_a_softcap) {
  expect_correct([](TestProblem& problem) { problem.description.options.softcap = 2; });
}

TEST_P(FewRows, are_right_with_slopes_and_a_softcap) {
  TestTensor slopes({1, 18, 1, 1}, Layout::bhsd);
  std::mt19937_64 random(3);
  slopes.fill_normal(random, 0.1f);
  for (const float softcap : {0.0f, 4.0f})
    expect_correct([&](TestProblem& problem) {
      problem.description.options.softcap = softcap;
      problem.others.alibi_slopes = slopes.view();
      problem.others.alibi_slopes.size[1] = problem.description.heads;
    });
}

TEST_P(FewRows, are_right_within_a_window_and_with_sinks) {
  TestTensor sinks({1, 18, 1, 1}, Layout::bhsd);
  std::mt19937_64 random(4);
  sinks.fill_normal(random);
  expect_correct([&](TestProblem& problem) {
    problem.description.options.causal = Causal::bottom_right;
    problem.description.options.window_left = 20;
    problem.others.sinks = sinks.view();
    problem.others.sinks.size[1] = problem.description.heads;
  });
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(FewRows);

} // namespace
} // namespace simdattn::test
