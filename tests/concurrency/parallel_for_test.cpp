// A caller's own way to run the workers.

#include "support/implementations.hpp"
#include "support/parallel.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace simdattn::test {
namespace {

AttentionCase description() {
  AttentionCase c;
  c.batch = 2;
  c.heads = 3;
  c.kv_heads = 3;
  c.queries = 200;
  c.keys = 60;
  c.dim = c.value_dim = 8;
  return c;
}

// What a pool was asked for.
struct Recorder {
  std::vector<int> workers; // of each run
  int at_most = 1 << 30;    // bodies that are run; the others are left out
};

ParallelFor recorded_by(Recorder& recorder) {
  ParallelFor parallel_for;
  parallel_for.pool = &recorder;
  parallel_for.run = [](void* pool, int workers, void (*body)(void*, int), void* job) {
    static_cast<Recorder*>(pool)->workers.push_back(workers);
    for (int worker = 0; worker < workers; ++worker)
      body(job, worker);
  };
  return parallel_for;
}

class CallersParallelFor : public ImplementationTest {
protected:
  Context context(const ParallelFor& parallel_for, int threads) const {
    Context context;
    context.implementation = implementation();
    context.parallel_for = parallel_for;
    context.threads = threads;
    return context;
  }
};

TEST_P(CallersParallelFor, gets_its_pool_and_the_number_of_workers_asked_for) {
  TestProblem problem(description());
  problem.fill(1);
  Recorder recorder;
  ASSERT_TRUE(runs_correctly(problem, implementation(), context(recorded_by(recorder), 3)));
  EXPECT_EQ(recorder.workers, std::vector<int>{3});
}

TEST_P(CallersParallelFor, may_run_the_workers_in_any_order_or_all_at_once) {
  TestProblem problem(description());
  problem.fill(2);
  for (const int threads : {2, 3, 7, 50}) {
    EXPECT_TRUE(runs_correctly(problem, implementation(), context(one_by_one(), threads)));
    EXPECT_TRUE(runs_correctly(problem, implementation(), context(on_threads(), threads)));
  }
}

TEST_P(CallersParallelFor, is_not_asked_for_more_workers_than_there_is_work) {
  AttentionCase c = description();
  c.batch = c.heads = c.kv_heads = c.queries = 1;
  TestProblem problem(c);
  problem.fill(3);
  Recorder recorder;
  ASSERT_TRUE(runs_correctly(problem, implementation(), context(recorded_by(recorder), 64)));
  for (const int workers : recorder.workers)
    EXPECT_EQ(workers, 1);
}

TEST_P(CallersParallelFor, decides_the_number_of_threads_when_nobody_says) {
  TestProblem problem(description());
  problem.fill(4);
  Recorder recorder;
  Context unsaid = context(recorded_by(recorder), 0);
  const AttentionTensors tensors = problem.tensors();
  ASSERT_OK(scaled_dot_product_attention(tensors, {}, unsaid));
  EXPECT_TRUE(is_correct(problem));
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(CallersParallelFor);

} // namespace
} // namespace simdattn::test
