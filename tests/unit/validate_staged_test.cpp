// Bad and good arguments of the staged calls, and good ones of the fused call that look odd.

#include "simdattn/staged.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"
#include "validate.hpp"

#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

auto is_invalid(const char* first, const char* second = "must be") {
  return IsError(StatusCode::invalid_argument, AllOf(HasSubstr(first), HasSubstr(second)));
}

class StagedArguments : public ::testing::Test {
protected:
  TestTensor query_{{2, 4, 3, 6}, Layout::bhsd}, key_{{2, 2, 5, 6}, Layout::bhsd},
      value_{{2, 2, 5, 7}, Layout::bhsd};
  TestTensor scores_{{2, 4, 3, 5}, Layout::bhsd}, weights_{{2, 4, 3, 5}, Layout::bhsd};
  TestTensor output_{{2, 4, 3, 7}, Layout::bhsd};
};

TEST_F(StagedArguments, of_scores_are_checked) {
  MutableTensorView scores = scores_.mutable_view();
  EXPECT_THAT(attention_scores({}, key_.view(), scores), is_invalid("query: type is none"));
  EXPECT_THAT(attention_scores(query_.view(), {}, scores), is_invalid("key: type is none"));
  EXPECT_THAT(attention_scores(query_.view(), key_.view(), {}), is_invalid("scores: type is none"));
  EXPECT_THAT(attention_scores(query_.view(), value_.view(), scores),
              is_invalid("key: size[3] (dim) is 7"));
  scores.size[3] = 4;
  EXPECT_THAT(attention_scores(query_.view(), key_.view(), scores),
              is_invalid("scores: size[3] (dim) is 4", "5"));
  scores = scores_.mutable_view();
  scores.data = const_cast<void*>(key_.view().data);
  EXPECT_THAT(attention_scores(query_.view(), key_.view(), scores),
              is_invalid("scores: data", "where key starts"));
  EXPECT_TRUE(is_untouched(scores_.at(0, 0, 0, 0)));
}

TEST_F(StagedArguments, of_softmax_are_checked) {
  EXPECT_THAT(attention_softmax({}, weights_.mutable_view()), is_invalid("scores: type is none"));
  EXPECT_THAT(attention_softmax(scores_.view(), {}), is_invalid("weights: type is none"));
  EXPECT_THAT(attention_softmax(scores_.view(), output_.mutable_view()),
              is_invalid("weights: size[3] (dim) is 7", "5"));
  EXPECT_THAT(attention_softmax(scores_.view(), scores_.mutable_view()),
              is_invalid("weights: data", "where scores starts"));
  EXPECT_TRUE(is_untouched(weights_.at(0, 0, 0, 0)));
}

TEST_F(StagedArguments, of_weighted_sum_are_checked) {
  EXPECT_THAT(attention_weighted_sum({}, value_.view(), output_.mutable_view()),
              is_invalid("weights: type is none"));
  EXPECT_THAT(attention_weighted_sum(weights_.view(), {}, output_.mutable_view()),
              is_invalid("value: type is none"));
  EXPECT_THAT(attention_weighted_sum(weights_.view(), value_.view(), {}),
              is_invalid("output: type is none"));
  EXPECT_THAT(attention_weighted_sum(output_.view(), value_.view(), output_.mutable_view()),
              is_invalid("value: size[2] (seq) is 5", "7"));
  TensorView value = value_.view();
  value.size[1] = 3;
  value.stride[1] = 0;
  EXPECT_THAT(attention_weighted_sum(weights_.view(), value, output_.mutable_view()),
              is_invalid("value: size[1] (heads) is 3", "divide the 4 heads of weights"));
  EXPECT_THAT(attention_weighted_sum(weights_.view(), value_.view(), scores_.mutable_view()),
              is_invalid("output: size[3] (dim) is 5", "7"));
  EXPECT_TRUE(is_untouched(output_.at(0, 0, 0, 0)));
}

// Accepted, and turned into the problem that plan and execute work on.
class GoodArguments : public ::testing::Test {
protected:
  static AttentionCase description() {
    AttentionCase c;
    c.batch = 2;
    c.heads = 6;
    c.kv_heads = 2;
    c.queries = 3;
    c.keys = 5;
    c.dim = 16;
    c.value_dim = 7;
    return c;
  }

  Problem validated(const AttentionOptions& options = {}) {
    Problem problem;
    EXPECT_OK(validate_attention(call_.tensors(), options, &problem));
    return problem;
  }

  TestProblem call_{description()};
};

TEST_F(GoodArguments, become_a_problem) {
  const Problem problem = validated();
  EXPECT_EQ(problem.batch, 2);
  EXPECT_EQ(problem.query_heads, 6);
  EXPECT_EQ(problem.kv_heads, 2);
  EXPECT_EQ(problem.group, 3);
  EXPECT_EQ(problem.query_count, 3);
  EXPECT_EQ(problem.key_count, 5);
  EXPECT_EQ(problem.dim, 16);
  EXPECT_EQ(problem.value_dim, 7);
  EXPECT_EQ(problem.packed_rows(), 9);
  EXPECT_EQ(problem.scale, 0.25f);
  EXPECT_EQ(problem.causal, Causal::none);
  EXPECT_EQ(problem.lse.data, call_.lse.view().data);
}

TEST_F(GoodArguments, have_any_finite_scale) {
  for (const float scale : {0.0f, -3.0f, 1e-30f, 1e30f}) {
    AttentionOptions options;
    options.scale = scale;
    EXPECT_EQ(validated(options).scale, scale);
  }
}

TEST_F(GoodArguments, may_repeat_inputs_by_stride_0_and_outputs_on_an_axis_of_size_1) {
  AttentionTensors tensors = call_.tensors();
  for (std::int64_t& stride : tensors.key.stride)
    stride = 0;
  Problem problem;
  EXPECT_OK(validate_attention(tensors, {}, &problem));
  tensors.lse.stride[3] = 0;
  EXPECT_OK(validate_attention(tensors, {}, &problem));
}

TEST_F(GoodArguments, may_share_one_tensor_between_query_key_and_value) {
  AttentionCase self = description();
  self.kv_heads = self.heads;
  self.keys = self.queries;
  self.value_dim = self.dim;
  TestProblem call(self);
  AttentionTensors tensors = call.tensors();
  tensors.key = tensors.value = tensors.query;
  Problem problem;
  EXPECT_OK(validate_attention(tensors, {}, &problem));
}

} // namespace
} // namespace simdattn::test
