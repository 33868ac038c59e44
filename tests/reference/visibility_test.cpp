// Which keys the oracle lets a query see: worked out by hand. Most outputs are the mean of the
// numbers of the visible keys.

#include "small_call.hpp"

#include <array>

namespace simdattn::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(OracleVisibility, Fault01RowWithEveryKeyMaskedIsZero) {
  SmallCall call({.queries = 2, .keys = 2, .dim = 4});
  const Bools mask{false, false, true, true};
  call.tensors.mask = bhsd(mask.data(), 1, 1, 2, 2);
  const reference::Expected expected = call.attention();
  EXPECT_THAT(expected.output, near_all({0, 0, 0, 0, .5, .5, .5, .5}));
  EXPECT_EQ(expected.lse[0], -infinity);
  EXPECT_NEAR(expected.lse[1], std::log(2.0), 1e-12);
  EXPECT_THAT(expected.weights, ElementsAre(0, 0, .5, .5));
  EXPECT_EQ(call.tolerance().rows[0].output, 0);
  EXPECT_GT(call.tolerance().rows[1].output, 0);
}

TEST(OracleVisibility, Fault02FirstKeysMasked) {
  SmallCall call({.keys = 1024});
  std::vector<float> mask(1024);
  std::fill_n(mask.begin(), 1000, -infinity);
  call.tensors.mask = bhsd<const float>(mask.data(), 1, 1, 1, 1024);
  EXPECT_THAT(call.output(), near_all({1011.5}));
}

TEST(OracleVisibility, Fault05MaskedKeysMayHoldAnything) {
  SmallCall call({.queries = 2, .keys = 2, .dim = 4});
  for (int n = 0; n < 8; ++n)
    call.query[n] = call.key[n] = call.value[n] = static_cast<float>(n);
  const Bools mask{true, false};
  call.tensors.mask = bhsd(mask.data(), 1, 1, 1, 2);
  for (const float poison : {nan, infinity, -infinity}) {
    std::fill(call.key.begin() + 4, call.key.end(), poison);
    EXPECT_THAT(call.output(), near_all({0, 1, 2, 3, 0, 1, 2, 3}));
    std::fill(call.value.begin() + 4, call.value.end(), poison);
    EXPECT_THAT(call.output(), near_all({0, 1, 2, 3, 0, 1, 2, 3}));
  }
}

TEST(OracleVisibility, Fault07And18MaskAxesOfSizeOneRepeat) {
  SmallCall call({.batch = 2, .heads = 2, .kv_heads = 2, .queries = 2, .keys = 3});
  const Bools by_row{true, false};
  call.tensors.mask = bhsd(by_row.data(), 1, 1, 2, 1);
  EXPECT_THAT(call.output(), near_all({1, 0, 1, 0, 1, 0, 1, 0}));
  const Bools by_key{true, false, true};
  call.tensors.mask = bhsd(by_key.data(), 1, 1, 1, 3);
  EXPECT_THAT(call.output(), Each(1.0));
  const Bools by_entry{false, true, true, true, true, false};
  call.tensors.mask = bhsd(by_entry.data(), 2, 1, 1, 3);
  EXPECT_THAT(call.output(), near_all({1.5, 1.5, 1.5, 1.5, .5, .5, .5, .5}));
  const Bools by_head{true, false, false, true};
  call.tensors.mask = bhsd(by_head.data(), 2, 2, 1, 1);
  EXPECT_THAT(call.output(), near_all({1, 1, 0, 0, 0, 0, 1, 1}));
}

TEST(OracleVisibility, Fault09MaskOfAnyStrides) {
  SmallCall call({.queries = 2, .keys = 2});
  const Bools every_second{true, false, false, true, false, true, true, false};
  call.tensors.mask = strided(every_second.data(), 1, 1, 2, 2, 8, 8, 4, 2);
  EXPECT_THAT(call.output(), near_all({0, 1}));
  const Bools transposed{true, false, true, true};
  call.tensors.mask = strided(transposed.data(), 1, 1, 2, 2, 4, 4, 1, 2);
  EXPECT_THAT(call.output(), near_all({.5, 1}));
}

TEST(OracleVisibility, Fault11CausalAlignment) {
  SmallCall call({.keys = 4});
  call.value = {1, 2, 3, 4};
  call.options.causal = Causal::bottom_right;
  EXPECT_THAT(call.output(), near_all({2.5}));
  call.options.causal = Causal::top_left;
  EXPECT_THAT(call.output(), near_all({1}));
  const std::int64_t offset = 2;
  call.tensors.query_offsets = per_batch(&offset, 1);
  EXPECT_THAT(call.output(), near_all({2}));
}

TEST(OracleVisibility, Fault12MoreQueriesThanKeys) {
  SmallCall call({.queries = 3, .keys = 2});
  call.options.causal = Causal::bottom_right;
  EXPECT_THAT(call.output(), near_all({0, 0, .5}));
}

TEST(OracleVisibility, Fault13MaskAndCausalBothHold) {
  SmallCall call({.queries = 3, .keys = 3});
  const Bools mask{false, true, true};
  call.tensors.mask = bhsd(mask.data(), 1, 1, 1, 3);
  call.options.causal = Causal::top_left;
  EXPECT_THAT(call.output(), near_all({0, 1, 1.5}));
}

TEST(OracleVisibility, Fault29WindowCountsBothSidesWithoutTheQueryItself) {
  SmallCall call({.queries = 5, .keys = 5});
  call.options.window_left = 1;
  EXPECT_THAT(call.output(), near_all({2, 2, 2.5, 3, 3.5}));
  call.options.window_right = 0;
  EXPECT_THAT(call.output(), near_all({0, .5, 1.5, 2.5, 3.5}));
  call.options.window_left = -1;
  call.options.window_right = 1;
  EXPECT_THAT(call.output(), near_all({.5, 1, 1.5, 2, 2}));
}

TEST(OracleVisibility, WindowFollowsTheCausalAlignment) {
  SmallCall call({.queries = 2, .keys = 5});
  call.options.window_left = 1;
  call.options.causal = Causal::bottom_right; // positions 3 and 4
  EXPECT_THAT(call.output(), near_all({2.5, 3.5}));
}

TEST(OracleVisibility, LengthsCutKeysAndQueriesOfEachEntry) {
  SmallCall call({.batch = 2, .queries = 3, .keys = 4});
  const std::array<std::int64_t, 2> keys{2, 0}, queries{2, 3};
  call.tensors.kv_lengths = per_batch(keys.data(), 2);
  call.tensors.query_lengths = per_batch(queries.data(), 2);
  EXPECT_THAT(call.output(), near_all({.5, .5, 0, 0, 0, 0}));
  EXPECT_EQ(call.attention().lse[2], -infinity);
}

TEST(OracleVisibility, BottomRightAlignsTheLengthsOfEachEntry) {
  SmallCall call({.batch = 2, .queries = 3, .keys = 4});
  const std::array<std::int64_t, 2> keys{3, 4}, queries{2, 1};
  call.tensors.kv_lengths = per_batch(keys.data(), 2);
  call.tensors.query_lengths = per_batch(queries.data(), 2);
  call.options.causal = Causal::bottom_right; // offsets 1 and 3
  EXPECT_THAT(call.output(), near_all({.5, 1, 0, 1.5, 0, 0}));
}

TEST(OracleVisibility, PastKeysComeFirst) {
  SmallCall call({.queries = 2, .keys = 2});
  const std::vector<float> past_key(3), past_value{10, 20, 30};
  call.tensors.past_key = bhsd(past_key.data(), 1, 1, 3, 1);
  call.tensors.past_value = bhsd(past_value.data(), 1, 1, 3, 1);
  EXPECT_THAT(call.output(), near_all({12.2, 12.2}));
  call.options.causal = Causal::bottom_right; // keys 10 20 30 0 1
  EXPECT_THAT(call.output(), near_all({15, 12.2}));
  const std::int64_t length = 4;
  call.tensors.kv_lengths = per_batch(&length, 1);
  EXPECT_THAT(call.output(), near_all({20, 15}));
  EXPECT_EQ(call.attention().weights.size(), 10u);
}

TEST(OracleVisibility, RaggedSequencesSeeTheirOwnKeysAlone) {
  SmallCall call({.queries = 5, .keys = 6}); // queries 2 0 3, keys 3 1 2
  const std::array<std::int64_t, 4> queries{0, 2, 2, 5}, keys{0, 3, 4, 6};
  call.tensors.query_starts = per_batch(queries.data(), 4);
  call.tensors.kv_starts = per_batch(keys.data(), 4);
  EXPECT_THAT(call.output(), near_all({1, 1, 4.5, 4.5, 4.5}));
  call.options.causal = Causal::bottom_right; // offsets 1, −1
  const reference::Expected expected = call.attention();
  EXPECT_THAT(expected.output, near_all({.5, 1, 0, 4, 4.5}));
  constexpr double third = 1.0 / 3;
  EXPECT_THAT(expected.weights,
              near_all({.5, .5, 0, third, third, third, 0, 0, 0, 1, 0, 0, .5, .5, 0}));
  EXPECT_EQ(expected.scores[5 * 3 - 1], -infinity);
}

TEST(OracleVisibility, RaggedMaskHasTheColumnsOfTheLongestSequence) {
  SmallCall call({.queries = 2, .keys = 4}); // one query each, keys 1 3
  const std::array<std::int64_t, 3> queries{0, 1, 2}, keys{0, 1, 4};
  call.tensors.query_starts = per_batch(queries.data(), 3);
  call.tensors.kv_starts = per_batch(keys.data(), 3);
  const Bools mask{true, false, false, false, true, true};
  call.tensors.mask = bhsd(mask.data(), 1, 1, 2, 3);
  EXPECT_THAT(call.output(), near_all({0, 2.5}));
}

TEST(OracleVisibility, Fault15EmptySizes) {
  EXPECT_TRUE(SmallCall({.queries = 0, .keys = 3}).output().empty());
  EXPECT_TRUE(SmallCall({.batch = 0}).output().empty());
  SmallCall no_keys({.queries = 2, .keys = 1});
  no_keys.tensors.key.size[2] = no_keys.tensors.value.size[2] = 0;
  EXPECT_THAT(no_keys.output(), ElementsAre(0, 0));
  EXPECT_THAT(no_keys.attention().lse, Each(-infinity));
}

} // namespace
} // namespace simdattn::test
