// Which implementation runs, and that all of them agree.

#include "dispatch.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

AttentionCase small_case() {
  AttentionCase c;
  c.heads = 2;
  c.kv_heads = 1;
  c.queries = 40;
  c.keys = 90;
  c.dim = 20;
  c.value_dim = 12;
  return c;
}

// All in one process, one after the other, on the same numbers.
TEST(Fault21_wrong_on_one_isa, every_implementation_agrees_with_every_other) {
  TestProblem first(small_case());
  first.fill(1);
  const std::vector<const Implementation*> implementations = supported_implementations();
  ASSERT_GE(implementations.size(), 2u);
  ASSERT_OK(first.run(implementations.front()));
  const reference::Tolerance tolerance = first.tolerance();
  const std::vector<double> first_output = elements_of(first.output.view());
  for (const Implementation* implementation : implementations) {
    TestProblem other(small_case());
    other.fill_from(first);
    ASSERT_OK(other.run(implementation));
    EXPECT_TRUE(elements_fulfil(other.output, [&](std::size_t i) {
      return Demand{first_output[i], 2 * tolerance.output};
    })) << implementation_name(implementation);
  }
}

// A table that no CPU can run: it asks for a feature that does not exist.
constexpr CpuFeatures no_such_feature = CpuFeatures{1} << 31;

KernelTable impossible_table() {
  KernelTable table = *find_implementation("scalar")->table;
  table.name = "impossible";
  table.required = no_such_feature | feature::avx512_fp16;
  return table;
}

TEST(Fault31_forced_but_unsupported, is_an_error_of_the_call_and_touches_nothing) {
  const KernelTable table = impossible_table();
  const Implementation impossible(table);
  EXPECT_FALSE(implementation_supported(&impossible));
  TestProblem problem(small_case());
  problem.fill(1);
  Context context;
  context.implementation = &impossible;
  EXPECT_THAT(scaled_dot_product_attention(problem.tensors(), {}, context),
              IsError(StatusCode::unsupported_implementation,
                      AllOf(HasSubstr("context.implementation"), HasSubstr("impossible"))));
  EXPECT_TRUE(is_untouched(problem.output.at(0, 0, 0, 0)));
  std::size_t bytes = 77;
  EXPECT_THAT(workspace_size(problem.tensors(), {}, context, &bytes),
              IsError(StatusCode::unsupported_implementation, HasSubstr("impossible")));
  EXPECT_EQ(bytes, 77u);
}

TEST(Fault31_forced_but_unsupported, cannot_be_set_and_leaves_the_active_one) {
  const KernelTable table = impossible_table();
  const Implementation impossible(table);
  const Implementation *before = nullptr, *after = nullptr;
  ASSERT_OK(active_implementation(&before));
  EXPECT_THAT(set_implementation(&impossible),
              IsError(StatusCode::unsupported_implementation, HasSubstr("impossible")));
  ASSERT_OK(active_implementation(&after));
  EXPECT_EQ(after, before);
}

// The same for those of the library that this CPU lacks, if there are any.
class Fault31_on_this_cpu : public ::testing::TestWithParam<const Implementation*> {};

TEST_P(Fault31_on_this_cpu, an_unsupported_implementation_is_an_error_that_names_what_is_missing) {
  if (implementation_supported(GetParam()))
    GTEST_SKIP() << "this CPU can run " << implementation_name(GetParam());
  TestProblem problem(small_case());
  problem.fill(1);
  EXPECT_THAT(problem.run(GetParam()),
              IsError(StatusCode::unsupported_implementation,
                      AllOf(HasSubstr(implementation_name(GetParam())), HasSubstr("lacks"))));
  EXPECT_TRUE(is_untouched(problem.output.at(0, 0, 0, 0)));
}

INSTANTIATE_TEST_SUITE_P(On, Fault31_on_this_cpu, ::testing::ValuesIn(every_implementation()),
                         implementation_test_name);

} // namespace
} // namespace simdattn::test
