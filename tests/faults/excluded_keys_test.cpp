// What is excluded may hold anything: by masks, windows, lengths, and between sequences.

#include "support/bool_mask.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace simdattn::test {
namespace {

constexpr float poisons[] = {NAN, INFINITY, -INFINITY};

class Fault05_keys_excluded_by_options : public ImplementationTest {
protected:
  // Poison in keys and values of one batch entry changes no bit of the output.
  void expect_no_leak(TestProblem& clean, std::int64_t batch, std::int64_t first,
                      std::int64_t end) const {
    ASSERT_TRUE(runs_correctly(clean, implementation()));
    for (const float poison : poisons)
      for (const bool in_key : {true, false}) {
        TestProblem poisoned(clean.description);
        poisoned.fill_from(clean);
        poisoned.others = clean.others;
        TestTensor& tensor = in_key ? poisoned.key : poisoned.value;
        for (std::int64_t j = first; j < end; ++j)
          for (std::int64_t h = 0; h < clean.description.kv_heads; ++h)
            tensor.fill_row(batch, h, j, poison);
        ASSERT_OK(poisoned.run(implementation()));
        const char* where = in_key ? " in a key" : " in a value";
        EXPECT_TRUE(same_elements(poisoned.output, clean.output)) << poison << where;
        EXPECT_TRUE(same_elements(poisoned.lse, clean.lse)) << poison << where;
        EXPECT_TRUE(same_elements(poisoned.weights, clean.weights)) << poison << where;
      }
  }

  static AttentionCase some_case(std::int64_t queries) {
    AttentionCase c;
    c.batch = c.heads = 2;
    c.queries = queries;
    c.keys = 290;
    c.dim = 9;
    c.value_dim = 10;
    return c;
  }
};

// q = k = v = 0 … 7, and no query sees key 1.
TEST_P(Fault05_keys_excluded_by_options, leak_nothing_in_the_smallest_case) {
  AttentionCase c;
  c.queries = c.keys = 2;
  c.dim = c.value_dim = 4;
  TestProblem problem(c);
  TestTensor mask({1, 1, 1, 2}, Layout::bhsd);
  mask.at(0, 0, 0, 0) = 0, mask.at(0, 0, 0, 1) = -INFINITY;
  for (const float poison : poisons)
    for (TestTensor* poisoned : {&problem.key, &problem.value}) {
      for (TestTensor* tensor : {&problem.query, &problem.key, &problem.value})
        for_each_index(tensor->shape(), [&](auto b, auto h, auto i, auto d) {
          tensor->at(b, h, i, d) = static_cast<float>(4 * i + d);
        });
      poisoned->fill_row(0, 0, 1, poison);
      with_masks_of_both_kinds(mask, [&](const TensorView& view) {
        problem.others.mask = view;
        ASSERT_TRUE(runs_correctly(problem, implementation()));
        for (std::int64_t i = 0; i < 2; ++i)
          for (std::int64_t d = 0; d < 4; ++d)
            EXPECT_EQ(problem.output.at(0, 0, i, d), static_cast<float>(d)) << poison;
      });
    }
}

TEST_P(Fault05_keys_excluded_by_options, leak_nothing_through_a_mask) {
  for (const std::int64_t queries : {1, 3, 60})
    for (const std::int64_t first : {0, 100, 283}) {
      TestProblem problem(some_case(queries));
      problem.fill(1);
      TestTensor mask({2, 1, queries, 290}, Layout::bhsd);
      mask.fill(0);
      for (std::int64_t i = 0; i < queries; ++i)
        for (std::int64_t j = first; j < first + 7; ++j)
          mask.at(1, 0, i, j) = -INFINITY;
      with_masks_of_both_kinds(mask, [&](const TensorView& view) {
        problem.others.mask = view;
        expect_no_leak(problem, 1, first, first + 7);
      });
    }
}

TEST_P(Fault05_keys_excluded_by_options, leak_nothing_through_a_window) {
  for (const std::int64_t queries : {1, 3, 60}) {
    AttentionCase c = some_case(queries);
    c.options.causal = Causal::bottom_right;
    c.options.window_left = 20;
    TestProblem problem(c);
    problem.fill(2);
    expect_no_leak(problem, 0, 0, 290 - queries - 20);
  }
}

TEST_P(Fault05_keys_excluded_by_options, leak_nothing_behind_a_length) {
  const std::vector<std::int64_t> lengths = {290, 133};
  for (const std::int64_t queries : {1, 3, 60})
    for (const Causal causal : {Causal::none, Causal::bottom_right}) {
      AttentionCase c = some_case(queries);
      c.options.causal = causal;
      TestProblem problem(c);
      problem.fill(3);
      problem.others.kv_lengths = per_batch(lengths.data(), 2);
      expect_no_leak(problem, 1, 133, 290);
    }
}

TEST_P(Fault05_keys_excluded_by_options, leak_nothing_to_queries_behind_a_length) {
  const std::vector<std::int64_t> lengths = {60, 0};
  TestProblem problem(some_case(60));
  problem.fill(4);
  problem.others.query_lengths = per_batch(lengths.data(), 2);
  expect_no_leak(problem, 1, 0, 290);
}

// Sequences of 17, 0 and 43 queries on 120, 90 and 80 keys: the last one sees nothing of the
// others.
TEST_P(Fault05_keys_excluded_by_options, leak_nothing_into_another_sequence) {
  const std::vector<std::int64_t> queries = {0, 17, 17, 60}, keys = {0, 120, 210, 290};
  AttentionCase c = some_case(60);
  c.batch = 1;
  c.want_weights = false; // their columns are a sequence's keys, not all of them
  TestProblem problem(c);
  problem.fill(5);
  problem.others.query_starts = per_batch(queries.data(), 4);
  problem.others.kv_starts = per_batch(keys.data(), 4);
  ASSERT_NO_FATAL_FAILURE(expect_no_leak(problem, 0, 120, 210));
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault05_keys_excluded_by_options);

} // namespace
} // namespace simdattn::test
