// Extreme scores.

#include "support/implementations.hpp"
#include "support/test_problem.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

class Fault14_negative_scale : public ImplementationTest {};

TEST_P(Fault14_negative_scale, of_any_size_gives_the_smallest_product_all_the_weight) {
  AttentionCase c;
  c.queries = c.keys = 4;
  c.dim = c.value_dim = 4;
  for (const float scale : {-1e4f, -1.0f, -1e-3f}) {
    c.options.scale = scale;
    TestProblem problem(c);
    problem.fill(5);
    problem.key.fill_from(problem.query);
    problem.value.fill_from(problem.query);
    ASSERT_TRUE(runs_correctly(problem, implementation()));
    const reference::Expected expected = problem.expected();
    for (std::int64_t i = 0; i < 4 && scale == -1e4f; ++i) {
      const auto* row = expected.scores.data() + i * 4;
      const auto best = std::max_element(row, row + 4) - row;
      EXPECT_EQ(problem.weights.at(0, 0, i, best), 1);
      for (std::int64_t d = 0; d < 4; ++d)
        EXPECT_EQ(problem.output.at(0, 0, i, d), problem.value.at(0, 0, best, d));
    }
  }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault14_negative_scale);

} // namespace
} // namespace simdattn::test
