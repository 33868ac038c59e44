// Rows of which a mask leaves nothing, or nothing at first, or only what hardly counts.

#include "support/bool_mask.hpp"
#include "support/implementations.hpp"
#include "support/paths.hpp"

#include <cfloat>
#include <cmath>
#include <gtest/gtest.h>
#include <initializer_list>

namespace simdattn::test {
namespace {

AttentionCase one_head(std::int64_t queries, std::int64_t keys, std::int64_t dim) {
  AttentionCase c;
  c.queries = queries;
  c.keys = keys;
  c.dim = c.value_dim = dim;
  return c;
}

// An additive mask for every query and key: −inf where excluded(i, j), else 0.
template <class Excluded>
TestTensor mask_of(const AttentionCase& c, Excluded excluded) {
  TestTensor mask({1, 1, c.queries, c.keys}, Layout::bhsd);
  for (std::int64_t i = 0; i < c.queries; ++i)
    for (std::int64_t j = 0; j < c.keys; ++j)
      mask.at(0, 0, i, j) = excluded(i, j) ? -INFINITY : 0.0f;
  return mask;
}

class Fault01_fully_masked_row : public ImplementationTest {};

TEST_P(Fault01_fully_masked_row, is_exactly_0_in_the_smallest_case) {
  TestProblem problem(one_head(2, 2, 4));
  problem.fill(1);
  const TestTensor mask = mask_of(problem.description, [](auto i, auto) { return i == 0; });
  with_masks_of_both_kinds(mask, [&](const TensorView& view) {
    problem.others.mask = view;
    ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation()));
    for (std::int64_t d = 0; d < 4; ++d)
      EXPECT_EQ(problem.output.at(0, 0, 0, d), 0);
    EXPECT_EQ(problem.lse.at(0, 0, 0, 0), -INFINITY);
    EXPECT_EQ(problem.weights.at(0, 0, 0, 1), 0);
    EXPECT_TRUE(std::isfinite(problem.lse.at(0, 0, 1, 0)));
  });
}

TEST_P(Fault01_fully_masked_row, is_exactly_0_wherever_it_lies) {
  for (const std::int64_t queries : {1, 3, 17, 100})
    for (const std::int64_t keys : {1, 9, 300}) {
      TestProblem problem(one_head(queries, keys, 8));
      problem.fill(2);
      const TestTensor mask = mask_of(problem.description, [&](auto i, auto j) {
        return i % 3 == 0 || i == queries - 1 || j % 5 == 4;
      });
      with_masks_of_both_kinds(mask, [&](const TensorView& view) {
        problem.others.mask = view;
        ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation()));
        for (std::int64_t i = 0; i < queries; i += 3)
          ASSERT_EQ(problem.output.at(0, 0, i, 7), 0) << i;
      });
    }
}

class Fault02_first_keys_masked : public ImplementationTest {};

// K = 0 and V_j = j, keys j < 1000 excluded: the mean of 1000 … 1023.
TEST_P(Fault02_first_keys_masked, leave_the_mean_of_the_rest) {
  for (const std::int64_t queries : {1, 2, 50}) {
    TestProblem problem(one_head(queries, 1024, 1));
    problem.fill(1);
    problem.key.fill(0);
    for (std::int64_t j = 0; j < 1024; ++j)
      problem.value.at(0, 0, j, 0) = static_cast<float>(j);
    const TestTensor mask = mask_of(problem.description, [](auto, auto j) { return j < 1000; });
    with_masks_of_both_kinds(mask, [&](const TensorView& view) {
      problem.others.mask = view;
      ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation()));
      for (std::int64_t i = 0; i < queries; ++i)
        ASSERT_FLOAT_EQ(problem.output.at(0, 0, i, 0), 1011.5f) << i;
    });
  }
}

class Fault03_band : public ImplementationTest {
protected:
  // q = k = v = 1, and each query sees no more than the ten keys that end with its own.
  TestProblem ones() const {
    TestProblem problem(one_head(600, 600, 2));
    for (TestTensor* tensor : {&problem.query, &problem.key, &problem.value})
      tensor->fill(1);
    return problem;
  }

  void expect_ones(TestProblem& problem) const {
    ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation()));
    for (std::int64_t i = 0; i < 600; ++i)
      ASSERT_FLOAT_EQ(problem.output.at(0, 0, i, 1), 1) << i;
  }
};

TEST_P(Fault03_band, of_a_mask_gives_all_ones) {
  TestProblem problem = ones();
  const TestTensor mask =
      mask_of(problem.description, [](auto i, auto j) { return j > i || j <= i - 10; });
  with_masks_of_both_kinds(mask, [&](const TensorView& view) {
    problem.others.mask = view;
    expect_ones(problem);
  });
}

TEST_P(Fault03_band, of_a_causal_window_gives_all_ones) {
  TestProblem problem = ones();
  problem.description.options.causal = Causal::top_left;
  problem.description.options.window_left = 9;
  expect_ones(problem);
}

class Fault06_finite_sentinel : public ImplementationTest {};

TEST_P(Fault06_finite_sentinel, in_a_whole_row_gives_the_mean) {
  for (const std::int64_t length : {3, 40, 300}) {
    TestProblem problem(one_head(length, length, 5));
    problem.fill(3);
    TestTensor mask = mask_of(problem.description, [](auto, auto) { return false; });
    mask.fill_row(0, 0, 0, -FLT_MAX);
    problem.others.mask = mask.view();
    ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation()));
    for (std::int64_t d = 0; d < 5; ++d) {
      double sum = 0;
      for (std::int64_t j = 0; j < length; ++j)
        sum += problem.value.at(0, 0, j, d);
      EXPECT_NEAR(problem.output.at(0, 0, 0, d), sum / static_cast<double>(length), 1e-6);
    }
    EXPECT_TRUE(std::isfinite(problem.lse.at(0, 0, 0, 0)));
  }
}

// Beside keys that count, it weighs exactly nothing, before and behind them.
TEST_P(Fault06_finite_sentinel, beside_other_keys_weighs_nothing) {
  for (const float sentinel : {-FLT_MAX, -3e38f, -1e30f, -1e9f, -65504.0f})
    for (const bool first : {true, false}) {
      TestProblem problem(one_head(40, 300, 5));
      problem.fill(4);
      TestTensor mask = mask_of(problem.description, [](auto, auto) { return false; });
      for (std::int64_t i = 0; i < 40; ++i)
        for (std::int64_t j = 0; j < 300; ++j)
          if ((j < 290) == first) mask.at(0, 0, i, j) = sentinel;
      problem.others.mask = mask.view();
      ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation())) << sentinel;
      EXPECT_EQ(problem.weights.at(0, 0, 17, first ? 0 : 299), 0);
    }
}

// Only what is −inf excludes: under a causal mask the first query sees its own key all the same.
TEST_P(Fault06_finite_sentinel, everywhere_leaves_the_causal_mask_alone) {
  TestProblem problem(one_head(70, 70, 5));
  problem.description.options.causal = Causal::top_left;
  problem.fill(5);
  TestTensor mask = mask_of(problem.description, [](auto, auto) { return false; });
  mask.fill(-FLT_MAX);
  problem.others.mask = mask.view();
  ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation()));
  for (std::int64_t d = 0; d < 5; ++d)
    EXPECT_EQ(problem.output.at(0, 0, 0, d), problem.value.at(0, 0, 0, d));
}

class Fault33_softcap_and_mask : public ImplementationTest {};

TEST_P(Fault33_softcap_and_mask, leak_nothing_of_masked_keys) {
  for (const std::int64_t queries : {1, 4, 60})
    for (const std::int64_t keys : {6, 200}) {
      TestProblem problem(one_head(queries, keys, 8));
      problem.description.options.softcap = 0.5f;
      problem.fill(6);
      const auto masked = [&](auto, auto j) { return j >= keys - 2 || j % 7 == 5; };
      const TestTensor mask = mask_of(problem.description, masked);
      for (std::int64_t j = 0; j < keys; ++j)
        if (masked(0, j)) problem.value.fill_row(0, 0, j, 1000);
      with_masks_of_both_kinds(mask, [&](const TensorView& view) {
        problem.others.mask = view;
        ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation()));
        for (std::int64_t i = 0; i < queries; ++i) {
          EXPECT_LT(std::abs(problem.output.at(0, 0, i, 0)), 10);
          EXPECT_EQ(problem.weights.at(0, 0, i, keys - 1), 0);
        }
      });
    }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault01_fully_masked_row);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault02_first_keys_masked);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault03_band);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault06_finite_sentinel);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault33_softcap_and_mask);

} // namespace
} // namespace simdattn::test
