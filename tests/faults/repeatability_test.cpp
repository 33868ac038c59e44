// A result depends on its own sequence alone: not on threads, nor on who runs them, nor on
// neighbours in the batch.

#include "support/implementations.hpp"
#include "support/parallel.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace simdattn::test {
namespace {

class Fault32_same_bits : public ImplementationTest {
protected:
  static AttentionCase description(Causal causal) {
    AttentionCase c;
    c.batch = 3;
    c.heads = 6;
    c.kv_heads = 2;
    c.queries = 150;
    c.keys = 300;
    c.dim = 24;
    c.value_dim = 20;
    c.options.causal = causal;
    return c;
  }

  static void expect_same_results(const TestProblem& actual, const TestProblem& expected) {
    EXPECT_TRUE(same_elements(actual.output, expected.output));
    EXPECT_TRUE(same_elements(actual.lse, expected.lse));
    EXPECT_TRUE(same_elements(actual.weights, expected.weights));
  }
};

TEST_P(Fault32_same_bits, at_any_number_of_threads_however_they_run) {
  for (const Causal causal : {Causal::none, Causal::bottom_right}) {
    TestProblem one_thread(description(causal));
    one_thread.fill(1);
    ASSERT_TRUE(runs_correctly(one_thread, implementation()));
    TestProblem other(description(causal));
    other.fill_from(one_thread);
    for (const int threads : {1, 2, 3, 7})
      for (const ParallelFor& parallel_for : {ParallelFor{}, on_threads(), one_by_one()}) {
        SCOPED_TRACE(threads);
        Context context;
        context.threads = threads;
        context.parallel_for = parallel_for;
        ASSERT_OK(other.run(implementation(), context));
        expect_same_results(other, one_thread);
      }
  }
}

TEST_P(Fault32_same_bits, alone_or_in_a_batch) {
  for (const Causal causal : {Causal::none, Causal::top_left}) {
    TestProblem batch(description(causal));
    batch.fill(2);
    ASSERT_OK(batch.run(implementation()));
    AttentionCase c = description(causal);
    c.batch = 1;
    for (std::int64_t b = 0; b < 3; ++b) {
      TestProblem alone(c);
      const auto copy = [&](const TestTensor& from, TestTensor& to) {
        for_each_index(to.shape(), [&](auto, auto h, auto i, auto d) {
          to.at(0, h, i, d) = from.at(b, h, i, d);
        });
      };
      copy(batch.query, alone.query);
      copy(batch.key, alone.key);
      copy(batch.value, alone.value);
      ASSERT_OK(alone.run(implementation()));
      for_each_index(alone.output.shape(), [&](auto, auto h, auto i, auto d) {
        ASSERT_TRUE(same_bits(alone.output.at(0, h, i, d), batch.output.at(b, h, i, d))) << b;
      });
    }
  }
}

TEST_P(Fault32_same_bits, whether_the_call_brings_a_workspace_or_not) {
  TestProblem with(description(Causal::none)), without(description(Causal::none));
  with.fill(3);
  without.fill_from(with);
  ASSERT_OK(with.run(implementation()));
  Context context;
  context.implementation = implementation();
  context.threads = 2;
  ASSERT_OK(scaled_dot_product_attention(without.tensors(), without.description.options, context));
  expect_same_results(without, with);
}

TEST_P(Fault32_same_bits, whether_lse_and_weights_are_wanted_or_not) {
  AttentionCase plain = description(Causal::top_left);
  plain.want_lse = plain.want_weights = false;
  TestProblem all(description(Causal::top_left)), output_only(plain);
  all.fill(4);
  output_only.fill_from(all);
  ASSERT_OK(all.run(implementation()));
  ASSERT_OK(output_only.run(implementation()));
  EXPECT_TRUE(same_elements(output_only.output, all.output));
}

// Heads that share a mask may be done together; whether they are depends on the threads.
TEST_P(Fault32_same_bits, with_a_mask_for_all_heads_or_for_each_at_any_number_of_threads) {
  AttentionCase c;
  c.heads = c.kv_heads = 5;
  c.queries = 230;
  c.keys = 300;
  c.dim = c.value_dim = 64;
  std::vector<float> mask(static_cast<std::size_t>(c.queries * c.keys));
  std::mt19937 random(6);
  for (float& number : mask)
    number = random() % 9 == 0 ? -INFINITY : static_cast<float>(random() % 100) / 50.0f;
  std::vector<float> masks;
  for (std::int64_t head = 0; head < c.heads; ++head)
    masks.insert(masks.end(), mask.begin(), mask.end());

  TestProblem for_all(c), for_each(c);
  for_all.fill(5);
  for_all.value.at(0, 1, 7, 3) = NAN; // in some rows a hidden key
  for_each.fill_from(for_all);
  for_all.others.mask = bhsd<const float>(mask.data(), 1, 1, c.queries, c.keys);
  for_each.others.mask = bhsd<const float>(masks.data(), 1, c.heads, c.queries, c.keys);
  ASSERT_TRUE(runs_correctly(for_each, implementation()));
  for (const int threads : {1, 2, 7}) {
    SCOPED_TRACE(threads);
    Context context;
    context.threads = threads;
    ASSERT_OK(for_all.run(implementation(), context));
    expect_same_results(for_all, for_each);
  }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault32_same_bits);

} // namespace
} // namespace simdattn::test
