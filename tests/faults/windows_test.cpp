// How many keys a window shows, and which.

#include "support/implementations.hpp"
#include "support/paths.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

class Fault29_window : public ImplementationTest {
protected:
  // K = 0, so that every visible key weighs the same. Query i, at position i + offset, sees keys
  // from position − left to position + right, where those exist.
  void expect_keys(const AttentionCase& c, std::int64_t offset, std::int64_t left,
                   std::int64_t right) const {
    TestProblem problem(c);
    problem.fill(1);
    problem.key.fill(0);
    ASSERT_TRUE(runs_correctly_on_every_path(problem, implementation()));
    for (std::int64_t i = 0; i < c.queries; ++i) {
      const std::int64_t first = std::max<std::int64_t>(i + offset - left, 0);
      const std::int64_t last = std::min(i + offset + right, c.keys - 1);
      for (std::int64_t j = 0; j < c.keys; ++j) {
        const float weight = problem.weights.at(0, 0, i, j);
        if (first <= j && j <= last)
          ASSERT_FLOAT_EQ(weight, 1 / static_cast<float>(last - first + 1)) << c << ": " << i << j;
        else
          ASSERT_EQ(weight, 0) << c << ": query " << i << ", key " << j;
      }
    }
  }

  static AttentionCase windowed(std::int64_t queries, std::int64_t keys, std::int64_t left,
                                std::int64_t right) {
    AttentionCase c;
    c.queries = queries;
    c.keys = keys;
    c.dim = c.value_dim = 3;
    c.options.window_left = left;
    c.options.window_right = right;
    return c;
  }
};

TEST_P(Fault29_window, to_the_left_of_w_shows_w_and_1_keys) {
  for (const std::int64_t left : {0, 1, 6, 7, 31, 127, 128, 400}) {
    AttentionCase c = windowed(300, 300, left, -1);
    c.options.causal = Causal::top_left;
    expect_keys(c, 0, left, 0);
  }
}

TEST_P(Fault29_window, to_both_sides_shows_the_key_between_too) {
  for (const std::int64_t left : {0, 5, 130})
    for (const std::int64_t right : {0, 1, 8, 127})
      expect_keys(windowed(200, 260, left, right), 0, left, right);
}

TEST_P(Fault29_window, that_is_open_to_one_side_shows_all_of_it) {
  constexpr std::int64_t open = 1000;
  expect_keys(windowed(150, 150, -1, 3), 0, open, 3);
  expect_keys(windowed(150, 150, 3, -1), 0, 3, open);
}

TEST_P(Fault29_window, moves_with_the_position_of_the_query) {
  for (const std::int64_t queries : {1, 2, 20, 100})
    for (const std::int64_t left : {0, 9, 64}) {
      AttentionCase c = windowed(queries, 200, left, -1);
      c.options.causal = Causal::bottom_right;
      expect_keys(c, 200 - queries, left, 0);
    }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Fault29_window);

} // namespace
} // namespace simdattn::test
