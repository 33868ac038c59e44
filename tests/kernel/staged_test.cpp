// The entries for scores, softmax and weighted sum of every table, over the edges of its tiles and
// blocks.

#include "dispatch.hpp"
#include "kernel_call.hpp"
#include "reference/reference.hpp"
#include "support/comparison.hpp"
#include "support/implementations.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace simdattn::test {
namespace {

constexpr double unit_roundoff = 0x1p-24;

class StagedKernels : public ImplementationTest {
protected:
  const KernelTable& table() const { return *implementation()->table; }

  // Calls of every size around the tiles, in a few layouts.
  template <class Body>
  void for_each_call(Body&& body) const {
    const TileSizes& tiles = table().tiles;
    for (const int rows :
         {1, tiles.lanes, tiles.lanes + 1, tiles.panel_rows, tiles.panel_rows + 1, tiles.row_block})
      for (const std::int64_t keys : {1, 2, 7, 8, 9, 16, 17, 31, 70})
        for (const Layout layout : {Layout::gapped, Layout::dim_outermost}) {
          KernelCase c{.rows = rows, .keys = keys, .dim = 9, .value_dim = 11, .key_block = 16};
          c.query_layout = c.key_layout = layout;
          SCOPED_TRACE(::testing::Message() << c);
          KernelCall call(c, tiles);
          TestTensor source({1, 1, rows, keys}, layout);
          std::mt19937_64 random(5);
          source.fill_normal(random, 3.0f);
          body(call, source);
        }
  }
};

TEST_P(StagedKernels, scores_are_right_and_hide_what_a_row_does_not_see) {
  for_each_call([&](KernelCall& call, const TestTensor&) {
    const std::int64_t keys = call.key.shape().seq;
    for (std::size_t r = 0; r < call.intervals.size(); ++r)
      call.intervals[r] = {static_cast<std::int64_t>(r) % keys,
                           keys - static_cast<std::int64_t>(r % 2) % keys};
    for (Interval& interval : call.intervals)
      if (interval.first >= interval.end) interval = {0, 0};
    call.scores(table());
    const KernelCall::Expected expected = call.expected();
    ASSERT_TRUE(elements_fulfil(call.weights, [&](std::size_t i) {
      return Demand{expected.scores[i],
                    std::isinf(expected.scores[i]) ? 0 : expected.scores_tolerance};
    }));
    ASSERT_TRUE(call.weights.gaps_untouched());
  });
}

TEST_P(StagedKernels, softmax_is_right) {
  for_each_call([&](KernelCall& call, const TestTensor& source) {
    call.softmax(table(), source);
    const std::vector<double> expected = reference::softmax(source.view());
    ASSERT_TRUE(elements_fulfil(call.weights, [&](std::size_t i) {
      return Demand{expected[i], unit_roundoff * 80};
    }));
    ASSERT_TRUE(call.weights.gaps_untouched());
  });
}

TEST_P(StagedKernels, weighted_sum_is_right) {
  for_each_call([&](KernelCall& call, const TestTensor& source) {
    call.weighted_sum(table(), source);
    const std::vector<double> expected = reference::weighted_sum(source.view(), call.value.view());
    const double largest = 12 * 4 * static_cast<double>(call.key.shape().seq);
    ASSERT_TRUE(elements_fulfil(call.output, [&](std::size_t i) {
      return Demand{expected[i], unit_roundoff * 20 * largest};
    }));
    ASSERT_TRUE(call.output.gaps_untouched());
  });
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(StagedKernels);

} // namespace
} // namespace simdattn::test
