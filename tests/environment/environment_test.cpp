// What the environment variables decide. They are read once in a process, so each of these tests
// runs in one of its own, with the variables that tests/environment/CMakeLists.txt gives it.

#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace simdattn::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

AttentionCase description() {
  AttentionCase c;
  c.batch = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.queries = 11;
  c.keys = 13;
  c.dim = 6;
  c.value_dim = 7;
  return c;
}

TEST(Environment, names_the_implementation_that_runs_or_every_call_says_why_not) {
  const std::string name = environment("SIMDATTN_ISA");
  const Implementation* named = find_implementation(name.c_str());
  ASSERT_NE(named, nullptr) << "SIMDATTN_ISA=" << name;
  TestProblem problem(description());
  problem.fill(1);
  const Implementation* active = nullptr;
  if (implementation_supported(named)) {
    ASSERT_OK(active_implementation(&active));
    EXPECT_EQ(active, named);
    ::testing::internal::CaptureStderr();
    const Status status = problem.run(nullptr);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                HasSubstr("isa=" + name + " ")); // SIMDATTN_VERBOSE=1
    ASSERT_OK(status);
    EXPECT_TRUE(is_correct(problem));
    return;
  }
  const auto explains =
      IsError(StatusCode::unsupported_implementation,
              AllOf(HasSubstr("SIMDATTN_ISA"), HasSubstr(name), HasSubstr("lacks")));
  EXPECT_THAT(active_implementation(&active), explains);
  EXPECT_THAT(problem.run(nullptr), explains);
  EXPECT_TRUE(is_untouched(problem.output.at(0, 0, 0, 0)));
}

TEST(Environment, with_an_unknown_name_makes_every_call_say_so) {
  ASSERT_EQ(find_implementation(environment("SIMDATTN_ISA").c_str()), nullptr);
  TestProblem problem(description());
  problem.fill(1);
  const auto explains =
      IsError(StatusCode::unsupported_implementation,
              AllOf(HasSubstr("SIMDATTN_ISA"), HasSubstr(environment("SIMDATTN_ISA")),
                    HasSubstr("must be one of"), HasSubstr("scalar")));
  for (int round = 0; round < 2; ++round) {
    const Implementation* active = nullptr;
    EXPECT_THAT(active_implementation(&active), explains);
    std::size_t bytes = 0;
    EXPECT_THAT(workspace_size(problem.tensors(), {}, {}, &bytes), explains);
    EXPECT_THAT(scaled_dot_product_attention(problem.tensors()), explains);
  }
  EXPECT_TRUE(is_untouched(problem.output.at(0, 0, 0, 0)));
}

TEST(Environment, yields_to_what_the_program_sets) {
  TestProblem problem(description());
  problem.fill(1);
  const Implementation* scalar = find_implementation("scalar");
  EXPECT_TRUE(runs_correctly(problem, scalar));
  ASSERT_OK(set_implementation(scalar));
  EXPECT_TRUE(runs_correctly(problem, nullptr));
  ASSERT_OK(set_implementation(nullptr));
  EXPECT_EQ(problem.run(nullptr).code(), StatusCode::unsupported_implementation);
}

TEST(Environment, that_is_empty_decides_nothing) {
  const Implementation* active = nullptr;
  ASSERT_OK(active_implementation(&active));
  EXPECT_TRUE(implementation_supported(active));
  TestProblem problem(description());
  problem.fill(1);
  ::testing::internal::CaptureStderr();
  const Status status = problem.run(nullptr);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ASSERT_OK(status);
}

TEST(Environment, asks_for_one_line_a_call) {
  TestProblem problem(description());
  problem.fill(1);
  const Implementation* scalar = find_implementation("scalar");
  ::testing::internal::CaptureStderr();
  const Status first = problem.run(scalar), second = problem.run(scalar);
  const std::string text = ::testing::internal::GetCapturedStderr();
  ASSERT_OK(first);
  ASSERT_OK(second);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_THAT(text,
              AllOf(HasSubstr("batch=2 heads=4/2 lq=11 lkv=13 d=6 dv=7 causal=none isa=scalar"),
                    HasSubstr("tile="), HasSubstr("tasks="), HasSubstr("time=")));
}

} // namespace
} // namespace simdattn::test
