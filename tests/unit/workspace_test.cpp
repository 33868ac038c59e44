// The workspace of a call.

#include "plan.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"
#include "workspace.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace simdattn::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(WorkspaceTest, is_the_callers_where_there_is_one_aligned_within) {
  std::vector<std::byte> memory(1000);
  Context context;
  for (std::size_t offset = 0; offset < 70; ++offset) {
    context.workspace = memory.data() + offset;
    context.workspace_bytes = memory.size() - offset;
    Workspace workspace;
    ASSERT_OK(workspace.acquire(context, 500));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(workspace.data()) % scratch_alignment, 0u);
    EXPECT_GE(workspace.data(), memory.data() + offset);
    EXPECT_LT(workspace.data(), memory.data() + offset + scratch_alignment);
  }
}

TEST(WorkspaceTest, is_allocated_where_there_is_none) {
  Workspace workspace;
  ASSERT_OK(workspace.acquire({}, 10'000));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(workspace.data()) % scratch_alignment, 0u);
  workspace.data()[10'000 - scratch_alignment] = std::byte{1};
}

TEST(WorkspaceTest, that_is_too_small_is_an_error_that_says_how_large_it_must_be) {
  std::vector<std::byte> memory(1000);
  Context context;
  context.workspace = memory.data();
  context.workspace_bytes = 499;
  Workspace workspace;
  EXPECT_THAT(workspace.acquire(context, 500),
              IsError(StatusCode::workspace_too_small,
                      AllOf(HasSubstr("context.workspace_bytes is 499"), HasSubstr("500"))));
}

TEST(WorkspaceTest, that_cannot_be_allocated_is_an_error) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's malloc ends the program instead of returning null";
#endif
  Workspace workspace;
  EXPECT_THAT(workspace.acquire({}, std::numeric_limits<std::size_t>::max() / 2),
              IsError(StatusCode::out_of_memory, HasSubstr("context.workspace")));
}

AttentionCase ordinary() {
  AttentionCase c;
  c.batch = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.queries = 30;
  c.keys = 50;
  c.dim = c.value_dim = 16;
  return c;
}

class WorkspaceSize : public ImplementationTest {
protected:
  std::size_t of(TestProblem& problem, const AttentionOptions& options, int threads) const {
    Context context;
    context.implementation = implementation();
    context.threads = threads;
    std::size_t bytes = 0;
    EXPECT_OK(workspace_size(problem.tensors(), options, context, &bytes));
    return bytes;
  }
};

TEST_P(WorkspaceSize, is_enough_to_the_byte_and_one_less_is_an_error_that_writes_nothing) {
  TestProblem problem(ordinary());
  problem.fill(1);
  for (const int threads : {1, 4}) {
    Context context;
    context.implementation = implementation();
    context.threads = threads;
    const std::size_t bytes = of(problem, {}, threads);
    std::vector<std::byte> memory(bytes);
    context.workspace = memory.data();
    context.workspace_bytes = bytes;
    ASSERT_OK(scaled_dot_product_attention(problem.tensors(), {}, context));
    ASSERT_TRUE(is_correct(problem));
    problem.output.reset();
    context.workspace_bytes = bytes - 1;
    EXPECT_THAT(scaled_dot_product_attention(problem.tensors(), {}, context),
                IsError(StatusCode::workspace_too_small, HasSubstr(std::to_string(bytes))));
    EXPECT_TRUE(is_untouched(problem.output.at(0, 0, 0, 0)));
  }
}

TEST_P(WorkspaceSize, may_start_at_any_address) {
  TestProblem problem(ordinary());
  problem.fill(2);
  const std::size_t bytes = of(problem, {}, 1);
  std::vector<std::byte> memory(bytes + 64, std::byte{0xff});
  for (const std::size_t offset : {0, 1, 2, 3, 17, 63}) {
    Context context;
    context.implementation = implementation();
    context.threads = 1;
    context.workspace = memory.data() + offset;
    context.workspace_bytes = bytes;
    ASSERT_OK(scaled_dot_product_attention(problem.tensors(), {}, context));
    ASSERT_TRUE(is_correct(problem)) << offset;
  }
}

TEST_P(WorkspaceSize, needs_somewhere_to_be_written) {
  TestProblem problem(ordinary());
  EXPECT_THAT(workspace_size(problem.tensors(), {}, {}, nullptr),
              IsError(StatusCode::invalid_argument, HasSubstr("bytes is nullptr")));
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(WorkspaceSize);

} // namespace
} // namespace simdattn::test
