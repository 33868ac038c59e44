// Tasks: the blocks of queries that kernels get.

#include "dispatch.hpp"
#include "support/implementations.hpp"
#include "task.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace simdattn::test {
namespace {

constexpr std::int64_t batch = 2, kv_heads = 3, group = 2, queries = 200, dim = 8;

/// Scratch of one worker, aligned.
struct Scratch {
  explicit Scratch(const Plan& plan) : bytes(plan.worker_bytes + scratch_alignment) {
    void* start = bytes.data();
    std::size_t space = bytes.size();
    aligned =
        static_cast<std::byte*>(std::align(scratch_alignment, plan.worker_bytes, start, space));
  }
  std::vector<std::byte> bytes;
  std::byte* aligned;
};

// Like the tests of plans this needs no CPU that runs the implementation.
class TaskTest : public ::testing::TestWithParam<const Implementation*> {
protected:
  const TileSizes& tiles() const { return GetParam()->table->tiles; }

  Problem problem(bool bshd, Causal causal) const {
    const auto view = [&](std::int64_t heads) {
      return bshd ? simdattn::bshd<const float>(elements_.data(), batch, queries, heads, dim)
                  : simdattn::bhsd<const float>(elements_.data(), batch, heads, queries, dim);
    };
    Problem problem;
    problem.batch = batch;
    problem.kv_heads = kv_heads;
    problem.group = group;
    problem.query_heads = kv_heads * group;
    problem.query_count = problem.key_count = queries;
    problem.dim = problem.value_dim = dim;
    problem.causal = causal;
    problem.query = view(kv_heads * group);
    problem.key = problem.value = view(kv_heads);
    return problem;
  }

private:
  std::vector<float> elements_ = std::vector<float>(batch * kv_heads * group * queries * dim);
};

TEST_P(TaskTest, lead_to_the_queries_of_the_task_that_their_worker_takes_next) {
  for (const bool bshd : {false, true})
    for (const Causal causal : {Causal::none, Causal::top_left})
      for (const int threads : {1, 2, 3}) {
        const Problem problem = this->problem(bshd, causal);
        const Plan plan = make_plan(problem, tiles(), {}, threads);
        Scratch scratch(plan), other(plan);
        ASSERT_GT(plan.units, plan.workers);
        for (std::int64_t unit = 0; unit < plan.units; ++unit) {
          const Task task(problem, plan, tiles(), unit, scratch.aligned);
          const std::int64_t offset = task.block.next_query;
          if (unit + plan.workers >= plan.units || task.block.row_count <= tiles().panel_rows) {
            EXPECT_EQ(offset, 0) << "unit " << unit;
            continue;
          }
          const Task next(problem, plan, tiles(), unit + plan.workers, other.aligned);
          EXPECT_EQ(static_cast<const float*>(task.block.rows[0].query) + offset,
                    next.block.rows[0].query)
              << "unit " << unit << " of " << plan.units << ", " << threads << " threads";
        }
      }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(TaskTest);

} // namespace
} // namespace simdattn::test
