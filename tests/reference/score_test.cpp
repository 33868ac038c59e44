// What the oracle makes of scores: worked out by hand.

#include "small_call.hpp"

#include <array>

namespace simdattn::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// A call of one query whose raw scores are the numbers given, for keys of values 0, 1, 2, …
struct ScoreCall : SmallCall {
  explicit ScoreCall(const std::vector<float>& scores)
      : SmallCall({.keys = static_cast<std::int64_t>(scores.size())}) {
    query = {1};
    key = scores;
    tensors.query.data = query.data();
    tensors.key.data = key.data();
  }
  std::vector<double> scores(ScoreStage stage = ScoreStage::masked) const {
    return reference::scores(tensors, options, stage).values;
  }
};

TEST(OracleScores, SoftcapIsCapTimesTanh) {
  ScoreCall call({0, 1, -100});
  call.options.softcap = 2;
  EXPECT_THAT(call.scores(), near_all({0, 0.92423431452001958, -2}));
  EXPECT_THAT(call.scores(ScoreStage::raw), ElementsAre(0, 1, -100));
}

TEST(OracleScores, Fault33SoftcapComesBeforeTheMask) {
  ScoreCall call({1, 2, 3});
  call.value = {5, 1000, 5};
  call.options.softcap = 0.5f;
  const std::vector<float> mask{0, -infinity, 0};
  call.tensors.mask = bhsd(mask.data(), 1, 1, 1, 3);
  EXPECT_THAT(call.output(), near_all({5}));
  EXPECT_THAT(call.scores(ScoreStage::capped),
              near_all({0.4820137900379085, 0.49966464986953352, 0.49999385582627909}));
  EXPECT_EQ(call.scores()[1], -infinity);
}

TEST(OracleScores, AlibiIsSlopeTimesDistance) {
  SmallCall call({.heads = 2, .kv_heads = 1, .queries = 2, .keys = 3});
  const std::vector<float> slopes{0.5f, 0.25f};
  call.tensors.alibi_slopes = per_head(slopes.data(), 1, 2);
  EXPECT_THAT(call.attention().scores, near_all({0, .5, 1, -.5, 0, .5, 0, .25, .5, -.25, 0, .25}));
  call.options.causal = Causal::bottom_right;                                   // positions 1 and 2
  EXPECT_THAT(call.attention().scores, near_all({-.5, 0, -infinity, -1, -.5, 0, //
                                                 -.25, 0, -infinity, -.5, -.25, 0}));
  call.options.causal = Causal::none;
  const std::int64_t offset = 10;
  call.tensors.query_offsets = per_batch(&offset, 1);
  EXPECT_THAT(call.attention().scores,
              near_all({-5, -4.5, -4, -5.5, -5, -4.5, -2.5, -2.25, -2, -2.75, -2.5, -2.25}));
}

TEST(OracleScores, StepsComeInTheirOrder) {
  ScoreCall call({0, 100});
  call.options.softcap = 1;
  const float slope = 2, sink = 0;
  const std::vector<float> mask{4, 8};
  call.tensors.alibi_slopes = per_head(&slope, 1, 1);
  call.tensors.mask = bhsd(mask.data(), 1, 1, 1, 2);
  call.tensors.sinks = per_head(&sink, 1, 1);
  call.options.modifier.modify = [](void*, const ScoreTile& tile) {
    for (std::int64_t k = 0; k < tile.key_count; ++k)
      tile.scores[k * tile.key_stride] *= -1;
  };
  // capped 0 1, with ALiBi 0 3, modified 0 −3, with the mask 4 5.
  EXPECT_THAT(call.scores(), ElementsAre(4, 5));
  EXPECT_NEAR(call.attention().lse[0], std::log(1 + std::exp(4.0) + std::exp(5.0)), 1e-12);
}

TEST(OracleScores, SinkTakesWeightAndGivesNone) {
  ScoreCall call({0, 0});
  const float sink = std::log(2.0f);
  call.tensors.sinks = per_head(&sink, 1, 1);
  const reference::Expected expected = call.attention();
  EXPECT_NEAR(expected.output[0], 0.25, 1e-8);
  EXPECT_NEAR(expected.lse[0], std::log(4.0), 1e-7);
  const std::int64_t no_keys = 0;
  call.tensors.kv_lengths = per_batch(&no_keys, 1);
  EXPECT_THAT(call.output(), ElementsAre(0));
  EXPECT_THAT(call.attention().lse, ElementsAre(sink));
}

TEST(OracleScores, SinkOfMinusInfinityIsNone) {
  ScoreCall call({0, 0});
  const float sink = -infinity;
  call.tensors.sinks = per_head(&sink, 1, 1);
  EXPECT_THAT(call.output(), near_all({0.5}));
  EXPECT_THAT(call.attention().lse, near_all({std::log(2.0)}));
}

TEST(OracleScores, ModifierIsToldWhereItIs) {
  SmallCall call({.batch = 2, .heads = 2, .kv_heads = 2, .queries = 2, .keys = 2});
  call.options.modifier.modify = [](void* user, const ScoreTile& tile) {
    for (std::int64_t r = 0; r < tile.row_count; ++r)
      for (std::int64_t k = 0; k < tile.key_count; ++k)
        tile.scores[r * tile.row_stride + k * tile.key_stride] =
            static_cast<float>(1000 * tile.batch + 100 * tile.head + 10 * (tile.first_row + r) +
                               tile.first_key + k) *
            *static_cast<float*>(user);
  };
  float factor = 2;
  call.options.modifier.user = &factor;
  EXPECT_THAT(call.attention().scores, ElementsAre(0, 2, 20, 22, 200, 202, 220, 222, 2000, 2002,
                                                   2020, 2022, 2200, 2202, 2220, 2222));
}

TEST(OracleScores, Fault06RowOfLowestFloatsIsTheMean) {
  SmallCall call({.queries = 2, .keys = 3, .dim = 2});
  call.query = {1, 2, 3, 4};
  call.key = {1, 2, 3, 4, 5, 6};
  const std::vector<float> mask{lowest, lowest, lowest, lowest, 0, lowest};
  call.tensors.query.data = call.query.data();
  call.tensors.key.data = call.key.data();
  call.tensors.mask = bhsd(mask.data(), 1, 1, 2, 3);
  const reference::Expected expected = call.attention();
  EXPECT_THAT(expected.output, near_all({1, 1, 1, 1}));
  EXPECT_THAT(expected.weights, near_all({1.0 / 3, 1.0 / 3, 1.0 / 3, 0, 1, 0}));
  EXPECT_EQ(expected.lse[0], double{lowest} + std::log(3.0));
  EXPECT_NEAR(expected.lse[1], 3 * 3 + 4 * 4, 1e-12);
  const reference::Tolerance tolerance = call.tolerance();
  EXPECT_LT(tolerance.rows[0].output, 1e-4);
  EXPECT_LT(tolerance.rows[1].output, 1e-4);
}

TEST(OracleScores, NaNReachesTheRowsThatSeeIt) {
  SmallCall call({.queries = 3, .keys = 3});
  call.key[1] = nan;
  call.options.causal = Causal::top_left;
  EXPECT_THAT(call.output(), near_all({0, nan, nan}));
  call.key[1] = 0;
  call.value[2] = nan;
  EXPECT_THAT(call.output(), near_all({0, .5, nan}));
  call.query[0] = nan;
  EXPECT_THAT(call.output(), near_all({nan, .5, nan}));
}

TEST(OracleScores, Fault14NegativeScale) {
  ScoreCall call({3, -1, 2});
  call.options.scale = -1e4f;
  EXPECT_THAT(call.output(), near_all({1}));
}

TEST(OracleScores, RawScoresOfExcludedKeysAreThere) {
  ScoreCall call({3, -1, 2});
  call.options.window_right = 0;
  call.options.scale = 2;
  EXPECT_THAT(call.scores(ScoreStage::raw), ElementsAre(6, -2, 4));
  EXPECT_THAT(call.scores(ScoreStage::capped), ElementsAre(6, -2, 4));
  EXPECT_THAT(call.scores(), ElementsAre(6, -infinity, -infinity));
}

} // namespace
} // namespace simdattn::test
