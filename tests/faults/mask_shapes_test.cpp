// Masks of every shape and layout, and together with the causal mask.

#include "support/bool_mask.hpp"
#include "support/implementations.hpp"
#include "support/paths.hpp"
#include "support/status.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

namespace simdattn::test {
namespace {

AttentionCase two_by_two(std::int64_t queries, std::int64_t keys) {
  AttentionCase c;
  c.batch = c.heads = c.kv_heads = 2;
  c.queries = queries;
  c.keys = keys;
  c.dim = 6;
  c.value_dim = 7;
  return c;
}

// Every element different: N(0, 1), and −inf for a third of them.
void fill_mask(TestTensor& mask, unsigned seed) {
  std::mt19937_64 random(seed);
  mask.fill_normal(random);
  for_each_index(mask.shape(), [&](auto b, auto h, auto i, auto j) {
    if (random() % 3 == 0) mask.at(b, h, i, j) = -INFINITY;
  });
}

// The mask written out for every query and key of every head.
TestTensor expanded(const TestTensor& mask, const AttentionCase& c) {
  TestTensor whole({c.batch, c.heads, c.queries, c.keys}, Layout::bhsd);
  const Shape& shape = mask.shape();
  for_each_index(whole.shape(), [&](auto b, auto h, auto i, auto j) {
    whole.at(b, h, i, j) = mask.at(shape.batch == 1 ? 0 : b, shape.heads == 1 ? 0 : h,
                                   shape.seq == 1 ? 0 : i, shape.dim == 1 ? 0 : j);
  });
  return whole;
}

class MaskTest : public ImplementationTest {
protected:
  // A mask in some shape and layout gives the bits that its expanded, dense copy gives, of either
  // kind, and they are right.
  void expect_as_if_expanded(const AttentionCase& c, const TestTensor& mask) const {
    std::ostringstream text;
    text << c << ", mask [" << mask.shape().batch << ',' << mask.shape().heads << ','
         << mask.shape().seq << ',' << mask.shape().dim << ']';
    SCOPED_TRACE(text.str());
    const TestTensor whole = expanded(mask, c);
    const BoolMask boolean(mask), whole_boolean(whole);
    expect_same(c, mask.view(), whole.view());
    expect_same(c, boolean.view(), whole_boolean.view());
  }

  void expect_same(const AttentionCase& c, const TensorView& mask, const TensorView& whole) const {
    TestProblem problem(c), expected(c);
    problem.fill(1);
    expected.fill_from(problem);
    problem.others.mask = mask;
    expected.others.mask = whole;
    ASSERT_OK(expected.run(implementation()));
    ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation(), expected.expected()));
    EXPECT_TRUE(same_elements(problem.output, expected.output));
    EXPECT_TRUE(same_elements(problem.lse, expected.lse));
    EXPECT_TRUE(same_elements(problem.weights, expected.weights));
  }
};

class Fault07_mask_of_one_column : public MaskTest {};

// What it adds is the same for all keys of a row. Nothing behind its last element may be read.
TEST_P(Fault07_mask_of_one_column, adds_nothing_that_counts) {
  for (const std::int64_t queries : {1, 5, 70})
    for (const Placement placement : {Placement::front, Placement::back}) {
      const AttentionCase c = two_by_two(queries, 90);
      TestTensor mask({2, 1, queries, 1}, Layout::bhsd, placement);
      std::mt19937_64 random(1);
      mask.fill_normal(random);
      TestProblem masked(c), plain(c);
      masked.fill(1);
      plain.fill_from(masked);
      masked.others.mask = mask.view();
      ASSERT_TRUE(runs_correctly_on_every_path(masked, implementation()));
      const reference::Expected without_mask = plain.expected();
      EXPECT_TRUE(output_matches(masked.output, without_mask, masked.tolerance()));
      EXPECT_TRUE(weights_match(masked.weights, without_mask, masked.tolerance()));
    }
}

TEST_P(Fault07_mask_of_one_column, excludes_whole_rows) {
  for (const std::int64_t queries : {1, 5, 70}) {
    const AttentionCase c = two_by_two(queries, 90);
    TestTensor mask({2, 1, queries, 1}, Layout::bhsd);
    for_each_index(mask.shape(), [&](auto b, auto h, auto i, auto j) {
      mask.at(b, h, i, j) = (b + i) % 2 == 0 ? -INFINITY : 0.0f;
    });
    TestProblem problem(c);
    problem.fill(2);
    with_masks_of_both_kinds(mask, [&](const TensorView& view) {
      problem.others.mask = view;
      ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation()));
      EXPECT_EQ(problem.output.at(0, 1, 0, 3), 0);
      EXPECT_NE(problem.output.at(1, 1, 0, 3), 0);
    });
  }
}

class Fault09_strided_mask : public MaskTest {};

TEST_P(Fault09_strided_mask, equals_its_dense_copy) {
  for (const Layout layout : {Layout::every_third, Layout::dim_outermost, Layout::gapped,
                              Layout::bshd, Layout::expanded, Layout::expanded_head})
    for (const std::int64_t queries : {1, 3, 75})
      for (const std::int64_t keys : {8, 140}) {
        const AttentionCase c = two_by_two(queries, keys);
        TestTensor mask({2, 2, queries, keys}, layout);
        fill_mask(mask, 3);
        expect_as_if_expanded(c, mask);
      }
}

class Fault13_mask_and_causal : public MaskTest {};

// One mask that says both is the measure.
TEST_P(Fault13_mask_and_causal, are_joined_by_and) {
  for (const Causal causal : {Causal::top_left, Causal::bottom_right})
    for (const std::int64_t queries : {1, 7, 60})
      for (const std::int64_t keys : {5, 60, 150}) {
        AttentionCase c = two_by_two(queries, keys);
        TestTensor mask({2, 2, queries, keys}, Layout::bhsd);
        fill_mask(mask, 4);
        TestTensor both({2, 2, queries, keys}, Layout::bhsd);
        const std::int64_t offset = causal == Causal::bottom_right ? keys - queries : 0;
        for_each_index(mask.shape(), [&](auto b, auto h, auto i, auto j) {
          both.at(b, h, i, j) = j <= i + offset ? mask.at(b, h, i, j) : -INFINITY;
        });
        TestProblem expected(c);
        expected.fill(5);
        c.options.causal = causal;
        TestProblem problem(c);
        problem.fill_from(expected);
        const BoolMask boolean(mask), both_boolean(both);
        const TensorView masks[2][2] = {{mask.view(), both.view()},
                                        {boolean.view(), both_boolean.view()}};
        for (const auto& [alone, joined] : masks) {
          problem.others.mask = alone;
          expected.others.mask = joined;
          ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation(), expected.expected()));
        }
      }
}

class Fault18_mask_broadcast : public MaskTest {};

TEST_P(Fault18_mask_broadcast, equals_the_expanded_mask) {
  for (const std::int64_t queries : {1, 4, 65})
    for (const std::int64_t keys : {3, 130})
      for (const Shape& shape :
           {Shape{2, 1, queries, keys}, Shape{1, 2, queries, keys}, Shape{1, 1, queries, keys},
            Shape{1, 1, 1, keys}, Shape{2, 1, 1, keys}, Shape{2, 2, 1, keys}, Shape{2, 2, 1, 1},
            Shape{1, 2, queries, 1}, Shape{1, 1, 1, 1}}) {
        TestTensor mask(shape, Layout::bhsd);
        fill_mask(mask, 6);
        expect_as_if_expanded(two_by_two(queries, keys), mask);
      }
}

// Query heads that share a KV head are rows of one block; each has its own mask all the same.
TEST_P(Fault18_mask_broadcast, holds_for_grouped_heads) {
  for (const std::int64_t queries : {1, 4, 65})
    for (const Shape& shape : {Shape{2, 6, 1, 1}, Shape{1, 6, queries, 50},
                               Shape{2, 1, queries, 50}, Shape{1, 6, 1, 50}}) {
      AttentionCase c = two_by_two(queries, 50);
      c.heads = 6;
      TestTensor mask(shape, Layout::bhsd);
      fill_mask(mask, 7);
      expect_as_if_expanded(c, mask);
    }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault07_mask_of_one_column);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault09_strided_mask);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault13_mask_and_causal);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault18_mask_broadcast);

} // namespace
} // namespace simdattn::test
