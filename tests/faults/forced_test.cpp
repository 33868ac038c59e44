// A forced implementation is the one that runs, and no other: each entry of its table is replaced
// by one that counts.

#include "dispatch.hpp"
#include "simdattn/staged.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <atomic>
#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

// The table behind the one that counts, and how often each entry ran. One test runs at a time.
const KernelTable* behind = nullptr;
std::atomic<int> fused_count{0}, scores_count{0}, softmax_count{0}, weighted_sum_count{0};

KernelTable counting(const KernelTable& table) {
  behind = &table;
  fused_count = scores_count = softmax_count = weighted_sum_count = 0;
  KernelTable copy = table;
  copy.fused = [](const AttentionBlock& block) { ++fused_count, behind->fused(block); };
  copy.scores = [](const AttentionBlock& block) { ++scores_count, behind->scores(block); };
  copy.softmax = [](const AttentionBlock& block) { ++softmax_count, behind->softmax(block); };
  copy.weighted_sum = [](const AttentionBlock& block) {
    ++weighted_sum_count, behind->weighted_sum(block);
  };
  return copy;
}

class Fault21_forced_implementation : public ImplementationTest {
protected:
  static AttentionCase description() {
    AttentionCase c;
    c.heads = 3;
    c.kv_heads = 3;
    c.queries = 40;
    c.keys = 50;
    c.dim = c.value_dim = 12;
    return c;
  }
};

TEST_P(Fault21_forced_implementation, by_the_context_runs) {
  const KernelTable table = counting(*implementation()->table);
  const Implementation counted(table);
  TestProblem problem(description());
  problem.fill(1);
  EXPECT_TRUE(runs_correctly(problem, &counted));
  EXPECT_GE(fused_count, 3); // at least one block a head
}

TEST_P(Fault21_forced_implementation, by_set_implementation_runs) {
  const KernelTable table = counting(*implementation()->table);
  const Implementation counted(table);
  TestProblem problem(description());
  problem.fill(1);
  ASSERT_OK(set_implementation(&counted));
  EXPECT_TRUE(runs_correctly(problem, nullptr));
  ASSERT_OK(set_implementation(nullptr));
  EXPECT_GE(fused_count, 3);
}

TEST_P(Fault21_forced_implementation, runs_every_step_of_the_staged_calls) {
  const KernelTable table = counting(*implementation()->table);
  const Implementation counted(table);
  TestProblem problem(description());
  problem.fill(1);
  Context context;
  context.implementation = &counted;
  TestTensor scores(problem.weights.shape(), Layout::bhsd);
  ASSERT_OK(attention_scores(problem.query.view(), problem.key.view(), scores.mutable_view(), {},
                             context));
  ASSERT_OK(attention_softmax(scores.view(), problem.weights.mutable_view(), context));
  ASSERT_OK(attention_weighted_sum(problem.weights.view(), problem.value.view(),
                                   problem.output.mutable_view(), context));
  EXPECT_GE(scores_count, 3);
  EXPECT_GE(softmax_count, 3);
  EXPECT_GE(weighted_sum_count, 3);
  EXPECT_EQ(fused_count, 0);
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault21_forced_implementation);

} // namespace
} // namespace simdattn::test
