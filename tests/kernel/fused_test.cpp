// The fused entry of every table, over the edges of its tiles and blocks.

#include "dispatch.hpp"
#include "kernel_call.hpp"
#include "support/comparison.hpp"
#include "support/effort.hpp"
#include "support/implementations.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace simdattn::test {
namespace {

class FusedKernel : public ImplementationTest {
protected:
  const KernelTable& table() const { return *implementation()->table; }
  const TileSizes& tiles() const { return table().tiles; }

  // Runs it and compares every result with the oracle's.
  ::testing::AssertionResult runs_correctly(KernelCall& call) const {
    call.fused(table());
    const KernelCall::Expected expected = call.expected();
    const auto dims = static_cast<std::size_t>(std::max<std::int64_t>(call.output.shape().dim, 1));
    const auto output = elements_fulfil(call.output, [&](std::size_t i) {
      const bool sees_nothing = std::isinf(expected.lse[i / dims]);
      return Demand{expected.output[i], sees_nothing ? 0 : expected.output_tolerance};
    });
    const auto lse = elements_fulfil(call.lse, [&](std::size_t i) {
      return Demand{expected.lse[i], std::isinf(expected.lse[i]) ? 0 : expected.lse_tolerance};
    });
    const auto weights = elements_fulfil(call.weights, [&](std::size_t i) {
      return Demand{expected.weights[i], expected.weights[i] == 0 ? 0 : expected.weights_tolerance};
    });
    if (!output) return ::testing::AssertionFailure() << "output " << output.message();
    if (call.want_lse && !lse) return ::testing::AssertionFailure() << "lse " << lse.message();
    if (call.want_weights && !weights)
      return ::testing::AssertionFailure() << "weights " << weights.message();
    for (const TestTensor* tensor : {&call.output, &call.lse, &call.weights})
      if (!tensor->gaps_untouched()) return ::testing::AssertionFailure() << "a gap was written to";
    return ::testing::AssertionSuccess();
  }
};

// 1, and a tile less one, exactly, and one more.
std::set<int> around(std::initializer_list<int> tiles, int most) {
  std::set<int> sizes{1};
  for (const int tile : tiles)
    for (const int size : {tile - 1, tile, tile + 1})
      if (size >= 1 && size <= most) sizes.insert(size);
  return sizes;
}

TEST_P(FusedKernel, is_right_at_every_row_count) {
  for (int rows = 1; rows <= tiles().row_block; ++rows) {
    const KernelCase c{
        .rows = rows, .keys = 2 * tiles().score_keys + 1, .dim = 5, .value_dim = 6, .key_block = 7};
    KernelCall call(c, tiles());
    ASSERT_TRUE(runs_correctly(call)) << c;
  }
}

TEST_P(FusedKernel, is_right_at_every_key_count_around_its_tiles) {
  for (const int rows : around({tiles().lanes, tiles().panel_rows}, tiles().row_block))
    for (int keys = 1; keys <= 40; ++keys) {
      const KernelCase c{.rows = rows, .keys = keys, .dim = 4, .value_dim = 3, .key_block = 16};
      KernelCall call(c, tiles());
      ASSERT_TRUE(runs_correctly(call)) << c;
    }
}

TEST_P(FusedKernel, is_right_at_every_dim_around_its_tiles) {
  for (const int rows : around({tiles().lanes, tiles().panel_rows}, tiles().row_block))
    for (int dim = 1; dim <= effort(70, 20); ++dim) {
      const KernelCase c{
          .rows = rows, .keys = 11, .dim = dim, .value_dim = 71 - dim, .key_block = 8};
      KernelCall call(c, tiles());
      ASSERT_TRUE(runs_correctly(call)) << c;
    }
}

TEST_P(FusedKernel, is_right_at_the_edges_of_its_own_key_block) {
  for (const int block :
       {tiles().key_block, tiles().key_block_large_dim, tiles().key_block_one_panel})
    for (const int keys : {block - 1, block, block + 1, 2 * block, 3 * block + 1}) {
      const KernelCase c{.rows = tiles().panel_rows + 1,
                         .keys = keys,
                         .dim = 20,
                         .value_dim = 9,
                         .key_block = block};
      KernelCall call(c, tiles());
      ASSERT_TRUE(runs_correctly(call)) << c;
    }
}

TEST_P(FusedKernel, is_right_without_lse_and_weights_and_without_value_dims) {
  const KernelCase c{
      .rows = tiles().lanes + 1, .keys = 30, .dim = 6, .value_dim = 0, .key_block = 9};
  for (const bool lse : {false, true})
    for (const bool weights : {false, true}) {
      KernelCall call(c, tiles());
      call.want_lse = lse;
      call.want_weights = weights;
      ASSERT_TRUE(runs_correctly(call));
    }
}

TEST_P(FusedKernel, is_right_in_every_layout_gathered_or_not) {
  for (const Layout layout : output_layouts)
    for (const bool gather : {false, true}) {
      KernelCase c{.rows = tiles().panel_rows + 2,
                   .keys = 45,
                   .dim = 2 * tiles().lanes + 3,
                   .value_dim = 13};
      c.key_block = 10;
      c.query_layout = c.key_layout = layout;
      c.gather = gather;
      KernelCall call(c, tiles());
      ASSERT_TRUE(runs_correctly(call)) << c;
    }
}

// Which keys a row sees, by its number.
using IntervalOf = Interval (*)(std::int64_t row, std::int64_t keys);
constexpr IntervalOf interval_patterns[] = {
    [](std::int64_t row, std::int64_t keys) {
      return Interval{0, std::min(row + 1, keys)};
    },
    [](std::int64_t row, std::int64_t keys) { // of 3 packed heads
      return Interval{0, std::min(row / 3 + 1, keys)};
    },
    [](std::int64_t row, std::int64_t keys) { // ever fewer
      return Interval{0, std::max<std::int64_t>(keys - row, 1)};
    },
    [](std::int64_t row, std::int64_t keys) {
      return Interval{std::min(row, keys - 1), keys};
    },
    [](std::int64_t row, std::int64_t keys) { // a window
      return Interval{std::clamp<std::int64_t>(row - 9, 0, keys - 1), std::min(row + 1, keys)};
    },
    [](std::int64_t row, std::int64_t keys) {
      return Interval{row * 5 % keys, std::min(row * 5 % keys + 3, keys)};
    },
    [](std::int64_t row, std::int64_t keys) {
      return row % 3 == 1 ? Interval{0, 0} : Interval{0, keys};
    },
    [](std::int64_t row, std::int64_t keys) {
      return row % 2 == 1 ? Interval{0, 0} : Interval{keys - 1, keys};
    },
    [](std::int64_t, std::int64_t) {
      return Interval{0, 0};
    },
    [](std::int64_t row, std::int64_t keys) {
      return row < 4 ? Interval{0, 0} : Interval{keys / 3, keys / 2};
    },
};

class FusedKernelIntervals : public FusedKernel {
protected:
  template <class Body>
  void for_each_pattern(Body&& body) const {
    for (const int rows : {1, tiles().lanes, tiles().panel_rows + 1, tiles().row_block})
      for (const auto& [keys, key_block] : {std::pair{6, 8}, {50, 8}, {110, 64}, {110, 128}})
        for (std::size_t p = 0; p < std::size(interval_patterns); ++p) {
          const KernelCase c{.rows = rows,
                             .keys = keys,
                             .dim = 3,
                             .value_dim = 5,
                             .key_block = key_block,
                             .segment_ends = {}};
          SCOPED_TRACE(::testing::Message() << c << ", pattern " << p);
          KernelCall call(c, tiles());
          for (std::size_t r = 0; r < call.intervals.size(); ++r)
            call.intervals[r] = interval_patterns[p](static_cast<std::int64_t>(r), keys);
          body(call);
        }
  }

  // Every key that no row sees.
  static std::vector<std::int64_t> unseen(const KernelCall& call) {
    std::vector<std::int64_t> keys;
    for (std::int64_t j = 0; j < call.key.shape().seq; ++j)
      if (std::none_of(call.intervals.begin(), call.intervals.end(),
                       [j](const Interval& seen) { return seen.first <= j && j < seen.end; }))
        keys.push_back(j);
    return keys;
  }
};

TEST_P(FusedKernelIntervals, are_honoured) {
  for_each_pattern([&](KernelCall& call) { ASSERT_TRUE(runs_correctly(call)); });
}

TEST_P(FusedKernelIntervals, hide_what_is_not_finite) {
  for_each_pattern([&](KernelCall& call) {
    for (const std::int64_t j : unseen(call)) {
      call.key.fill_row(0, 0, j, std::numeric_limits<float>::quiet_NaN());
      call.value.fill_row(0, 0, j, std::numeric_limits<float>::infinity());
    }
    ASSERT_TRUE(runs_correctly(call));
  });
}

TEST_P(FusedKernelIntervals, hide_what_is_not_finite_from_some_rows) {
  for_each_pattern([&](KernelCall& call) {
    const std::int64_t j = call.key.shape().seq / 2;
    call.key.at(0, 0, j, 1) = std::numeric_limits<float>::quiet_NaN();
    call.value.at(0, 0, j, 2) = -std::numeric_limits<float>::infinity();
    ASSERT_TRUE(runs_correctly(call));
  });
}

TEST_P(FusedKernel, takes_keys_in_segments) {
  for (const auto& ends :
       {std::vector<std::int64_t>{1}, {16}, {17, 17}, {7, 8, 30}, {39, 40}, {0, 20}})
    for (const bool gather : {false, true})
      for (std::size_t p = 0; p < std::size(interval_patterns); ++p) {
        KernelCase c{
            .rows = tiles().lanes + 1, .keys = 40, .dim = 5, .value_dim = 4, .key_block = 8};
        c.gather = gather;
        c.segment_ends = ends;
        KernelCall call(c, tiles());
        for (std::size_t r = 0; r < call.intervals.size(); ++r)
          call.intervals[r] = interval_patterns[p](static_cast<std::int64_t>(r), c.keys);
        ASSERT_TRUE(runs_correctly(call)) << c << ", pattern " << p;
      }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(FusedKernel);
SIMDATTN_FOR_EACH_IMPLEMENTATION(FusedKernelIntervals);

} // namespace
} // namespace simdattn::test
