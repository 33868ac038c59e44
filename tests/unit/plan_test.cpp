// How the work of a call is cut.

#include "dispatch.hpp"
#include "plan.hpp"
#include "support/effort.hpp"
#include "support/implementations.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <random>

namespace simdattn::test {
namespace {

constexpr CacheSizes ordinary_caches{32 * 1024, 512 * 1024, 16 * 1024 * 1024};
constexpr std::size_t most_scratch = 192 * 1024;

struct Sizes {
  std::int64_t batch, kv_heads, group, queries, keys, dim, value_dim;
};

std::ostream& operator<<(std::ostream& stream, const Sizes& s) {
  return stream << "B=" << s.batch << " Hkv=" << s.kv_heads << " group=" << s.group
                << " Lq=" << s.queries << " Lkv=" << s.keys << " D=" << s.dim
                << " Dv=" << s.value_dim;
}

Problem dense(const Sizes& s, bool bshd = false) {
  static float element = 0;
  const auto view = [&](std::int64_t heads, std::int64_t seq, std::int64_t dim) {
    return bshd ? simdattn::bshd<const float>(&element, s.batch, seq, heads, dim)
                : simdattn::bhsd<const float>(&element, s.batch, heads, seq, dim);
  };
  Problem problem;
  problem.batch = s.batch;
  problem.kv_heads = s.kv_heads;
  problem.group = s.group;
  problem.query_heads = s.kv_heads * s.group;
  problem.query_count = s.queries;
  problem.key_count = s.keys;
  problem.dim = static_cast<int>(s.dim);
  problem.value_dim = static_cast<int>(s.value_dim);
  problem.query = view(problem.query_heads, s.queries, s.dim);
  problem.key = view(s.kv_heads, s.keys, s.dim);
  problem.value = view(s.kv_heads, s.keys, s.value_dim);
  return problem;
}

/// The same with a mask of a row for each query, for each head or the same for all of them.
Problem masked(Problem problem, bool shared) {
  static float element = 0;
  problem.mask = simdattn::bhsd<const float>(&element, 1, shared ? 1 : problem.query_heads,
                                             problem.query_count, problem.key_count);
  for (int axis = 0; axis < 3; ++axis)
    if (problem.mask.size[axis] == 1) problem.mask.stride[axis] = 0;
  return problem;
}

// Unlike the others this needs no CPU that runs the implementation: only its tile sizes.
class PlanTest : public ::testing::TestWithParam<const Implementation*> {
protected:
  const TileSizes& tiles() const { return GetParam()->table->tiles; }

  Plan plan(const Problem& problem, int threads = 1,
            const CacheSizes& caches = ordinary_caches) const {
    return make_plan(problem, tiles(), caches, threads);
  }
};

TEST_P(PlanTest, cuts_the_same_for_every_number_of_threads_batch_and_heads) {
  for (const std::int64_t queries : {1, 50, 1000}) {
    const Plan one = plan(dense({1, 1, 2, queries, 700, 64, 64}));
    for (const int threads : {1, 2, 3, 64})
      for (const std::int64_t batch : {1, 5})
        for (const std::int64_t heads : {1, 12}) {
          const Plan other = plan(dense({batch, heads, 2, queries, 700, 64, 64}), threads);
          EXPECT_EQ(other.row_block, one.row_block);
          EXPECT_EQ(other.key_block, one.key_block);
          EXPECT_EQ(other.row_blocks, one.row_blocks);
          EXPECT_EQ(other.units, batch * heads * one.row_blocks);
          EXPECT_EQ(other.chunks, one.chunks);
        }
  }
}

TEST_P(PlanTest, has_a_task_for_every_row_and_no_more_workers_than_tasks) {
  for (const std::int64_t rows : {1, 2, 19, 48, 95, 96, 97, 1030})
    for (const int threads : {1, 2, 7, 100}) {
      const Plan cut = plan(dense({2, 3, 1, rows, 100, 32, 32}), threads);
      EXPECT_GE(cut.row_blocks * cut.row_block, rows);
      EXPECT_LT((cut.row_blocks - 1) * cut.row_block, rows);
      EXPECT_LE(cut.row_block, tiles().row_block);
      EXPECT_EQ(cut.tasks, 6 * cut.row_blocks);
      EXPECT_EQ(cut.workers, std::min<std::int64_t>(threads, cut.tasks));
      EXPECT_GE(cut.workspace_bytes, cut.worker_bytes * static_cast<std::size_t>(cut.workers));
    }
}

TEST_P(PlanTest, of_nothing_has_one_worker_and_no_tasks) {
  for (const Sizes& sizes :
       {Sizes{0, 2, 1, 5, 5, 4, 4}, {2, 0, 0, 5, 5, 4, 4}, {2, 2, 1, 0, 5, 4, 4}}) {
    const Plan cut = plan(dense(sizes), 4);
    EXPECT_EQ(cut.tasks, 0) << sizes;
    EXPECT_EQ(cut.workers, 1) << sizes;
  }
  EXPECT_GE(plan(dense({1, 1, 1, 5, 0, 4, 4})).key_block, 1);
}

TEST_P(PlanTest, keeps_scratch_within_192_kb_and_half_of_the_second_cache) {
  for (const std::size_t l2 : {256, 512, 1024, 2048})
    for (const std::int64_t dim : {1, 40, 64, 128}) {
      const CacheSizes caches{32 * 1024, l2 * 1024, 0};
      const Plan cut = plan(dense({1, 8, 1, 4096, 4096, dim, dim}), 1, caches);
      EXPECT_LE(cut.layout.bytes, std::min(most_scratch, l2 * 1024 / 2))
          << "L2 " << l2 << " KB, D " << dim;
      EXPECT_LE(cut.worker_bytes, std::min(most_scratch, l2 * 1024 / 2))
          << "L2 " << l2 << " KB, D " << dim;
    }
}

TEST_P(PlanTest, takes_more_than_64_mb_of_keys_and_values_to_come_from_memory) {
  EXPECT_FALSE(plan(dense({1, 16, 1, 1, 4096, 128, 128})).from_memory); // as many
  EXPECT_TRUE(plan(dense({1, 16, 1, 1, 4097, 128, 128})).from_memory);
  EXPECT_TRUE(plan(dense({2, 16, 1, 1, 4096, 128, 64})).from_memory);
}

TEST_P(PlanTest, shrinks_blocks_to_whole_panels_for_large_dims) {
  for (const std::int64_t dim : {256, 576, 4096}) {
    const Plan cut = plan(dense({1, 1, 1, 2000, 2000, dim, dim}));
    EXPECT_EQ(cut.row_block % tiles().panel_rows, 0) << dim;
    EXPECT_GE(cut.row_block, tiles().panel_rows) << dim;
    EXPECT_GE(cut.key_block, 1) << dim;
  }
}

TEST_P(PlanTest, lays_scratch_out_in_aligned_parts_that_do_not_overlap) {
  for (const bool bshd : {false, true})
    for (const Sizes& sizes :
         {Sizes{1, 1, 1, 1, 1, 1, 1}, {1, 16, 1, 100, 300, 64, 64}, {1, 4, 3, 33, 70, 129, 5}}) {
      const Plan cut = plan(dense(sizes, bshd));
      const ScratchLayout& at = cut.layout;
      const std::array starts{at.query, at.output, at.row_max, at.row_sum, at.scores, at.tile_max,
                              at.mask,  at.key,    at.value,   at.rows,    at.bytes};
      EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end())) << sizes;
      for (const std::size_t start : starts)
        EXPECT_EQ(start % scratch_alignment, 0u) << sizes;
      const auto lanes = static_cast<std::size_t>(tiles().lanes),
                 rows = static_cast<std::size_t>(cut.row_block);
      const std::size_t padded = (rows + lanes - 1) / lanes * lanes * sizeof(float);
      const auto dim = static_cast<std::size_t>(sizes.dim),
                 value_dim = static_cast<std::size_t>(sizes.value_dim);
      const auto keys = static_cast<std::size_t>(cut.key_block);
      EXPECT_GE(at.output - at.query, padded * dim);
      EXPECT_GE(at.row_max - at.output, padded * value_dim);
      EXPECT_GE(at.row_sum - at.row_max, padded);
      EXPECT_GE(at.scores - at.row_sum, padded);
      EXPECT_GE(at.value - at.key, cut.gather_key ? keys * dim * sizeof(float) : 0);
      EXPECT_GE(at.rows - at.value, cut.gather_value ? keys * value_dim * sizeof(float) : 0);
      EXPECT_GE(at.bytes - at.rows, rows * sizeof(QueryRow));
      EXPECT_LE(at.bytes, cut.worker_bytes);
    }
}

TEST_P(PlanTest, gathers_rows_that_lie_kilobytes_apart_or_has_few_of_them_in_a_block) {
  const Sizes sizes{1, 32, 1, 500, 500, 128, 128};
  const bool in_place = tiles().key_block_apart != 0;
  EXPECT_FALSE(plan(dense(sizes)).gather_key);
  EXPECT_FALSE(plan(dense(sizes)).gather_value);
  const Plan apart = plan(dense(sizes, true));
  EXPECT_EQ(apart.gather_key, !in_place);
  EXPECT_EQ(apart.gather_value, !in_place);
  if (in_place) {
    EXPECT_LE(apart.key_block, tiles().key_block_apart);
  }
}

TEST_P(PlanTest, gathers_elements_that_are_not_neighbours) {
  Problem problem = dense({1, 1, 1, 1, 50, 8, 8});
  problem.key.stride[3] = 2;
  EXPECT_TRUE(plan(problem).gather_key);
  EXPECT_FALSE(plan(problem).gather_value);
}

TEST_P(PlanTest, joins_two_heads_that_share_a_mask_where_enough_units_are_left) {
  const Problem problem = dense({1, 9, 1, 500, 700, 32, 32});
  const Plan joined = plan(masked(problem, true));
  EXPECT_EQ(joined.heads, 2);
  EXPECT_EQ(joined.units, 5 * joined.row_blocks); // of 9 heads the last is alone
  EXPECT_GE(joined.layout.scores, 2 * joined.layout.head_bytes);
  EXPECT_LE(joined.layout.bytes, most_scratch);
  EXPECT_EQ(plan(masked(problem, false)).heads, 1);
  EXPECT_EQ(plan(problem).heads, 1);
  const bool in_place = tiles().key_block_apart != 0; // else rows apart are gathered
  EXPECT_EQ(plan(masked(dense({1, 32, 1, 500, 700, 32, 32}, true), true)).heads, in_place ? 2 : 1);
  Problem gathered = masked(problem, true);
  gathered.key.stride[3] = 2;
  EXPECT_EQ(plan(gathered).heads, 1);
  Problem padding = masked(problem, true);
  padding.mask.stride[2] = 0; // one row for all queries
  EXPECT_EQ(plan(padding).heads, 1);

  const Plan for_many_threads = plan(masked(problem, true), 1000);
  EXPECT_EQ(for_many_threads.heads, 1);
  EXPECT_EQ(for_many_threads.row_block, joined.row_block);
  EXPECT_EQ(for_many_threads.key_block, joined.key_block);
  EXPECT_EQ(for_many_threads.units, 9 * joined.row_blocks);
}

// Any size grows, in any order, from any start: never is less asked for.
TEST_P(PlanTest, asks_for_no_less_workspace_when_a_dimension_grows) {
  std::mt19937 random(1);
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
  };
  for (int start = 0; start < effort(300, 30); ++start) {
    const bool bshd = start % 2 == 1, has_mask = start % 4 > 1;
    Sizes sizes{1 + below(3), 1 + below(3),  1 + below(3), below(40),
                below(40),    1 + below(20), below(20)};
    const int threads = static_cast<int>(1 + below(4));
    const CacheSizes caches{0, static_cast<std::size_t>(below(4)) * 256 * 1024, 0};
    std::size_t before = 0;
    for (int step = 0; step < 60; ++step) {
      Problem problem = dense(sizes, bshd);
      if (has_mask) problem = masked(problem, true);
      const Plan cut = plan(problem, threads, caches);
      ASSERT_LE(cut.layout.bytes, cut.worker_bytes);
      ASSERT_GE(cut.workspace_bytes, before)
          << sizes << " threads=" << threads << " bshd=" << bshd << " mask=" << has_mask;
      before = cut.workspace_bytes;
      std::int64_t* grown[] = {&sizes.batch, &sizes.kv_heads, &sizes.group,    &sizes.queries,
                               &sizes.keys,  &sizes.dim,      &sizes.value_dim};
      *grown[below(7)] += 1 + below(step < 30 ? 4 : 60);
    }
  }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(PlanTest);

} // namespace
} // namespace simdattn::test
