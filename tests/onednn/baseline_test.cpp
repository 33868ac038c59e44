// The oneDNN baseline itself: right, in place, and honest about what it runs.

#include "baselines/onednn.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <gmock/gmock.h>

namespace simdattn::test {
namespace {

using baseline::OnednnAttention;
using ::testing::HasSubstr;

std::unique_ptr<OnednnAttention> create(TestProblem& problem) {
  std::unique_ptr<OnednnAttention> attention;
  EXPECT_OK(OnednnAttention::create(problem.tensors(), problem.description.options, 1, &attention));
  return attention;
}

TEST(OnednnBaselineTest, TakesNewDataInTheSamePrimitives) {
  const AttentionCase description{
      .batch = 2, .heads = 3, .kv_heads = 3, .queries = 17, .keys = 33, .dim = 16, .value_dim = 24};
  TestProblem first(description), second(description);
  first.fill(1);
  second.fill(2);
  const auto attention = create(first);
  ASSERT_NE(attention, nullptr);
  for (TestProblem* problem : {&first, &second}) {
    ASSERT_OK(attention->run(problem->tensors()));
    EXPECT_TRUE(output_matches(problem->output, problem->expected(), problem->tolerance()));
  }
}

TEST(OnednnBaselineTest, NamesTheImplementationOfEachStep) {
  TestProblem problem({.queries = 8, .keys = 8, .dim = 8, .value_dim = 8});
  const auto attention = create(problem);
  ASSERT_NE(attention, nullptr);
  ASSERT_EQ(attention->steps().size(), 3u);
  const char* names[] = {"scores", "softmax", "weighted sum"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(attention->steps()[i].name, names[i]);
    EXPECT_THAT(attention->steps()[i].implementation, ::testing::Not(::testing::StartsWith("ref")));
    EXPECT_FALSE(attention->steps()[i].implementation.empty());
  }
}

TEST(OnednnBaselineTest, RefusesTheUnoptimisedImplementation) {
  // Keys that repeat along the heads by a stride of 0 are more than oneDNN's fast matmul takes.
  TestProblem problem({.heads = 4,
                       .kv_heads = 4,
                       .queries = 8,
                       .keys = 8,
                       .dim = 8,
                       .value_dim = 8,
                       .key_layout = Layout::expanded_head});
  std::unique_ptr<OnednnAttention> attention;
  EXPECT_THAT(OnednnAttention::create(problem.tensors(), {}, 1, &attention),
              IsError(StatusCode::invalid_argument, HasSubstr("unoptimised")));
  EXPECT_EQ(attention, nullptr);
}

TEST(OnednnBaselineTest, RefusesRowsThatSeeNoKey) {
  AttentionCase description{.queries = 9, .keys = 8, .dim = 8, .value_dim = 8};
  description.options.causal = Causal::bottom_right;
  TestProblem problem(description);
  std::unique_ptr<OnednnAttention> attention;
  EXPECT_THAT(OnednnAttention::create(problem.tensors(), description.options, 1, &attention),
              IsError(StatusCode::invalid_argument, HasSubstr("9 queries")));
  EXPECT_EQ(attention, nullptr);
}

TEST(OnednnBaselineTest, RefusesWhatItDoesNotCompute) {
  TestProblem problem({.queries = 8, .keys = 8, .dim = 8, .value_dim = 8});
  AttentionTensors masked = problem.tensors();
  masked.mask = problem.weights.view();
  AttentionOptions capped;
  capped.softcap = 30.0f;
  AttentionOptions windowed;
  windowed.window_left = 3;
  std::unique_ptr<OnednnAttention> attention;
  const auto refused = IsError(StatusCode::invalid_argument, HasSubstr("baseline"));
  EXPECT_THAT(OnednnAttention::create(masked, {}, 1, &attention), refused);
  EXPECT_THAT(OnednnAttention::create(problem.tensors(), capped, 1, &attention), refused);
  EXPECT_THAT(OnednnAttention::create(problem.tensors(), windowed, 1, &attention), refused);
  EXPECT_EQ(attention, nullptr);
}

} // namespace
} // namespace simdattn::test
