// Cache sizes that read 0, as in many containers and virtual machines.

#include "dispatch.hpp"
#include "execute.hpp"
#include "plan.hpp"
#include "support/guarded_buffer.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"
#include "validate.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

class Fault24_unknown_cache_sizes : public ImplementationTest {
protected:
  const KernelTable& table() const { return *implementation()->table; }
};

TEST_P(Fault24_unknown_cache_sizes, give_the_same_results) {
  for (const std::int64_t dim : {16, 100, 300}) {
    AttentionCase c;
    c.heads = 4;
    c.kv_heads = 2;
    c.queries = 70;
    c.keys = 400;
    c.dim = c.value_dim = dim;
    TestProblem call(c);
    call.fill(1);
    Problem problem;
    ASSERT_OK(validate_attention(call.tensors(), c.options, &problem));
    const Plan plan = make_plan(problem, table().tiles, CacheSizes{}, 1);
    // Scratch wants 64-byte alignment, which the end of a page has.
    const std::size_t bytes =
        (plan.workspace_bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
    const GuardedBuffer workspace(bytes, Placement::back);
    execute(problem, plan, table(), &KernelTable::fused, workspace.data(), {});
    EXPECT_TRUE(is_correct(call)) << c;
  }
}

TEST_P(Fault24_unknown_cache_sizes, ask_for_no_memory_that_grows_with_the_length) {
  static float element = 0;
  const auto plan_of = [&](std::int64_t length) {
    Problem problem;
    problem.batch = problem.kv_heads = problem.query_heads = problem.group = 1;
    problem.query_count = problem.key_count = length;
    problem.dim = problem.value_dim = 128;
    problem.query = problem.key = problem.value = sd<const float>(&element, length, 128);
    return make_plan(problem, table().tiles, CacheSizes{}, 1);
  };
  const Plan long_plan = plan_of(1'000'000);
  EXPECT_EQ(long_plan.workspace_bytes, plan_of(10'000).workspace_bytes);
  EXPECT_LE(long_plan.worker_bytes, 192u * 1024);
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault24_unknown_cache_sizes);

} // namespace
} // namespace simdattn::test
