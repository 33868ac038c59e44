// Views that are not dense BHSD.

#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <gtest/gtest.h>
#include <initializer_list>

namespace simdattn::test {
namespace {

AttentionCase dense(std::int64_t queries, std::int64_t keys, std::int64_t dim) {
  AttentionCase c;
  c.batch = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.queries = queries;
  c.keys = keys;
  c.dim = c.value_dim = dim;
  return c;
}

// The same numbers in a dense and in another layout.
void expect_as_if_dense(const AttentionCase& c, const Implementation* implementation) {
  AttentionCase dense_case = c;
  dense_case.query_layout = dense_case.key_layout = dense_case.value_layout =
      dense_case.output_layout = Layout::bhsd;
  TestProblem problem(c), dense_problem(dense_case);
  problem.fill(1);
  dense_problem.fill_from(problem);
  ASSERT_OK(dense_problem.run(implementation));
  ASSERT_TRUE(is_correct(dense_problem));
  ASSERT_TRUE(runs_correctly(problem, implementation));
}

class Fault08_innermost_stride : public ImplementationTest {};

TEST_P(Fault08_innermost_stride, other_than_1_equals_the_dense_copy) {
  for (const Layout layout : {Layout::dim_outermost, Layout::every_third})
    for (const std::int64_t length : {1, 5, 16, 33, 100})
      for (const std::int64_t dim : {2, 7, 32}) {
        AttentionCase c = dense(length, length + 3, dim);
        c.query_layout = c.key_layout = c.value_layout = layout;
        expect_as_if_dense(c, implementation());
        c.output_layout = layout;
        expect_as_if_dense(c, implementation());
      }
}

class Fault10_bshd : public ImplementationTest {};

TEST_P(Fault10_bshd, views_of_any_tensor_equal_the_dense_copy) {
  for (int which = 1; which < 16; ++which) {
    AttentionCase c = dense(50, 70, 24);
    const auto layout = [&](int bit) {
      return (which >> bit & 1) != 0 ? Layout::bshd : Layout::bhsd;
    };
    c.query_layout = layout(0);
    c.key_layout = layout(1);
    c.value_layout = layout(2);
    c.output_layout = layout(3);
    expect_as_if_dense(c, implementation());
  }
}

// Rows of keys kilobytes apart: the plan may copy them first.
TEST_P(Fault10_bshd, with_rows_far_apart_equals_the_dense_copy) {
  AttentionCase c = dense(40, 150, 64);
  c.batch = 1;
  c.heads = c.kv_heads = 16;
  c.query_layout = c.key_layout = c.value_layout = c.output_layout = Layout::bshd;
  expect_as_if_dense(c, implementation());
}

class Fault35_gaps : public ImplementationTest {};

TEST_P(Fault35_gaps, between_rows_are_ignored) {
  AttentionCase c;
  c.heads = 3;
  c.kv_heads = 1;
  c.queries = 30;
  c.keys = 67;
  c.dim = c.value_dim = 36;
  c.placement = Placement::back;
  TestProblem dense_problem(c);
  dense_problem.fill(3);
  ASSERT_OK(dense_problem.run(implementation()));
  ASSERT_TRUE(is_correct(dense_problem));

  // Rows of 36 in rows of 64: the first 36 columns of a tensor whose others are NaN.
  AttentionCase wide = c;
  wide.dim = wide.value_dim = 64;
  TestProblem padded(wide);
  const auto copy = [](const TestTensor& from, TestTensor& to) {
    for_each_index(from.shape(), [&](auto b, auto h, auto i, auto d) {
      to.at(b, h, i, d) = from.at(b, h, i, d);
    });
  };
  copy(dense_problem.query, padded.query);
  copy(dense_problem.key, padded.key);
  copy(dense_problem.value, padded.value);
  AttentionTensors tensors = padded.tensors();
  tensors.query.size[3] = tensors.key.size[3] = tensors.value.size[3] = tensors.output.size[3] = 36;
  Context context;
  context.implementation = implementation();
  ASSERT_OK(scaled_dot_product_attention(tensors, c.options, context));
  for_each_index(dense_problem.output.shape(), [&](auto b, auto h, auto i, auto d) {
    ASSERT_TRUE(same_bits(padded.output.at(b, h, i, d), dense_problem.output.at(b, h, i, d)));
  });
  for_each_index(padded.output.shape(), [&](auto b, auto h, auto i, auto d) {
    if (d >= 36) {
      ASSERT_TRUE(is_untouched(padded.output.at(b, h, i, d)));
    }
  });
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault08_innermost_stride);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault10_bshd);
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault35_gaps);

} // namespace
} // namespace simdattn::test
