// Sizes that are zero, or off every block, tile and usual list.

#include "dispatch.hpp"
#include "support/effort.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

using ::testing::HasSubstr;

AttentionCase sized(std::int64_t queries, std::int64_t keys, std::int64_t dim) {
  AttentionCase c;
  c.queries = queries;
  c.keys = keys;
  c.dim = c.value_dim = dim;
  return c;
}

class Fault15_zero_sizes : public ImplementationTest {};

TEST_P(Fault15_zero_sizes, of_batch_heads_or_queries_write_nothing) {
  for (std::int64_t AttentionCase::*size :
       {&AttentionCase::batch, &AttentionCase::heads, &AttentionCase::queries}) {
    AttentionCase c = sized(3, 5, 4);
    c.*size = 0;
    TestProblem problem(c); // every tensor of size 0 is a guard page
    problem.fill(1);
    ASSERT_OK(problem.run(implementation()));
  }
  AttentionCase no_heads_at_all = sized(3, 5, 4);
  no_heads_at_all.heads = no_heads_at_all.kv_heads = 0;
  TestProblem problem(no_heads_at_all);
  ASSERT_OK(problem.run(implementation()));
}

TEST_P(Fault15_zero_sizes, of_keys_give_zeros) {
  for (const Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right}) {
    AttentionCase c = sized(2, 0, 4);
    c.options.causal = causal;
    TestProblem problem(c);
    problem.fill(1);
    ASSERT_TRUE(runs_correctly(problem, implementation()));
    EXPECT_EQ(problem.output.at(0, 0, 1, 3), 0);
    EXPECT_EQ(problem.lse.at(0, 0, 1, 0), -INFINITY);
  }
}

TEST_P(Fault15_zero_sizes, of_keys_need_no_pointers) {
  TestProblem problem(sized(2, 0, 4));
  problem.fill(1);
  AttentionTensors tensors = problem.tensors();
  tensors.key.data = tensors.value.data = nullptr;
  Context context;
  context.implementation = implementation();
  ASSERT_OK(scaled_dot_product_attention(tensors, {}, context));
  EXPECT_EQ(problem.output.at(0, 0, 0, 0), 0);
}

TEST_P(Fault15_zero_sizes, of_values_dims_still_give_the_log_sum_exp) {
  AttentionCase c = sized(9, 30, 4);
  c.value_dim = 0;
  ASSERT_TRUE(runs_correctly(c, implementation()));
}

TEST_P(Fault15_zero_sizes, of_key_heads_or_dim_are_errors_and_write_nothing) {
  AttentionCase no_kv_heads = sized(2, 3, 4), no_dim = sized(2, 3, 0);
  no_kv_heads.kv_heads = 0;
  no_dim.value_dim = 4;
  TestProblem without_heads(no_kv_heads), without_dim(no_dim);
  EXPECT_THAT(without_heads.run(implementation()),
              IsError(StatusCode::invalid_argument, HasSubstr("key: size[1]")));
  EXPECT_THAT(without_dim.run(implementation()),
              IsError(StatusCode::invalid_argument, HasSubstr("query: size[3]")));
  EXPECT_TRUE(is_untouched(without_heads.output.at(0, 0, 0, 0)));
  EXPECT_TRUE(is_untouched(without_dim.output.at(0, 0, 0, 0)));
}

// Guard pages lie right behind the tensors of one problem; the other's go on with NaN.
class Fault16_key_lengths_off_the_block : public ImplementationTest {};

TEST_P(Fault16_key_lengths_off_the_block, read_nothing_behind_the_keys) {
  for (const std::int64_t keys : {1, 2, 31, 33, 127, 129, 511, 513})
    for (const std::int64_t queries : {1, 40}) {
      TestProblem exact(sized(queries, keys, 10)), longer(sized(queries, keys + 64, 10));
      exact.fill(keys);
      for_each_index(exact.key.shape(), [&](auto b, auto h, auto i, auto d) {
        longer.key.at(b, h, i, d) = exact.key.at(b, h, i, d);
        longer.value.at(b, h, i, d) = exact.value.at(b, h, i, d);
      });
      ASSERT_TRUE(runs_correctly(exact, implementation()));
      AttentionTensors tensors = exact.tensors();
      tensors.key.data = longer.key.view().data;
      tensors.value.data = longer.value.view().data;
      tensors.weights.data = nullptr;
      TestTensor output(exact.output.shape(), Layout::bhsd);
      tensors.output = output.mutable_view();
      Context context;
      context.implementation = implementation();
      ASSERT_OK(scaled_dot_product_attention(tensors, {}, context));
      ASSERT_TRUE(same_elements(output, exact.output)) << exact.description;
    }
}

class Fault17_tail_tiles : public ImplementationTest {};

TEST_P(Fault17_tail_tiles, write_nothing_outside_the_output) {
  for (const Placement placement : {Placement::front, Placement::back})
    for (const Layout layout : output_layouts) {
      AttentionCase c = sized(1030, 17, 8);
      c.placement = placement;
      c.output_layout = layout;
      ASSERT_TRUE(runs_correctly(c, implementation()));
    }
}

class Fault20_grouped_heads : public ImplementationTest {};

TEST_P(Fault20_grouped_heads, use_the_key_head_of_their_group) {
  struct Heads {
    std::int64_t query, kv;
  };
  for (const auto [query_heads, kv_heads] :
       {Heads{6, 1}, {3, 1}, {5, 1}, {7, 1}, {12, 1}, {20, 1}, {9, 3}})
    for (const std::int64_t queries : {1, 3, 50})
      for (const Causal causal : {Causal::none, Causal::bottom_right}) {
        AttentionCase c = sized(queries, 60, 6);
        c.batch = 2;
        c.heads = query_heads;
        c.kv_heads = kv_heads;
        c.options.causal = causal;
        ASSERT_TRUE(runs_correctly(c, implementation()));
      }
}

// V is the number of its head, so the output names the head that was used.
TEST_P(Fault20_grouped_heads, are_numbered_in_order) {
  AttentionCase c = sized(5, 4, 3);
  c.heads = 9;
  c.kv_heads = 3;
  TestProblem problem(c);
  problem.fill(1);
  for_each_index(problem.value.shape(), [&](auto b, auto h, auto i, auto d) {
    problem.value.at(b, h, i, d) = static_cast<float>(h);
  });
  ASSERT_OK(problem.run(implementation()));
  for (std::int64_t h = 0; h < 9; ++h)
    EXPECT_FLOAT_EQ(problem.output.at(0, h, 2, 1), static_cast<float>(h / 3));
}

class Fault22_rows_equal_to_the_tile : public ImplementationTest {};

TEST_P(Fault22_rows_equal_to_the_tile, or_one_off_are_right) {
  const TileSizes& tiles = implementation()->table->tiles;
  for (const std::int64_t tile : {tiles.lanes, tiles.panel_rows, tiles.row_block})
    for (const std::int64_t queries : {tile - 1, tile, tile + 1, 2 * tile})
      for (const std::int64_t keys : {1024, 1025, 2048}) {
        if (queries == 0 || (slow() && keys != 1025)) continue;
        AttentionCase c = sized(queries, keys, 16);
        c.want_weights = keys == 1025;
        ASSERT_TRUE(runs_correctly(c, implementation()));
      }
}

class Fault23_head_dims : public ImplementationTest {};

TEST_P(Fault23_head_dims, of_any_size_are_right) {
  for (const std::int64_t dim :
       {1, 2, 3, 5, 8, 16, 17, 24, 40, 48, 72, 80, 96, 112, 120, 128, 160, 192, 256, 512, 576})
    for (const std::int64_t value_dim : {dim, dim / 2 + 1, std::int64_t{7}}) {
      AttentionCase c = sized(effort(65, 11), effort(140, 33), dim);
      c.value_dim = value_dim;
      c.placement = dim % 2 == 0 ? Placement::back : Placement::front;
      ASSERT_TRUE(runs_correctly(c, implementation()));
    }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault15_zero_sizes);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault16_key_lengths_off_the_block);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault17_tail_tiles);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault20_grouped_heads);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault22_rows_equal_to_the_tile);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault23_head_dims);

} // namespace
} // namespace simdattn::test
