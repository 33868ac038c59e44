// The oracle against numbers worked out by hand, and its tolerance against the formula.

#include "reference/reference.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace simdattn::test {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::NanSensitiveDoubleEq;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Two queries and three keys of one dimension: scores 0, ln 2, ln 4 and 0, ln 3, ln 9 at scale 1.
struct Example {
  float query[2] = {1, static_cast<float>(std::log(3) / std::log(2))};
  float key[3] = {0, static_cast<float>(std::log(2)), static_cast<float>(std::log(4))};
  float value[3] = {7, 14, 21};
  AttentionOptions options;

  explicit Example(Causal causal = Causal::none) {
    options.scale = 1.0f;
    options.causal = causal;
  }
  AttentionTensors tensors() const {
    AttentionTensors tensors;
    tensors.query = sd(query, 2, 1);
    tensors.key = sd(key, 3, 1);
    tensors.value = sd(value, 3, 1);
    return tensors;
  }
  reference::Expected expected() const { return reference::attention(tensors(), options); }
};

TEST(Reference, gives_the_softmax_and_its_log_sum_exp) {
  const reference::Expected result = Example().expected();
  constexpr double rounding = 1e-6; // of the logarithms above, as floats
  EXPECT_THAT(result.weights,
              ElementsAre(DoubleNear(1 / 7.0, rounding), DoubleNear(2 / 7.0, rounding),
                          DoubleNear(4 / 7.0, rounding), DoubleNear(1 / 13.0, rounding),
                          DoubleNear(3 / 13.0, rounding), DoubleNear(9 / 13.0, rounding)));
  EXPECT_THAT(result.output, ElementsAre(DoubleNear(17, 30 * rounding),
                                         DoubleNear((7 + 42 + 189) / 13.0, 30 * rounding)));
  EXPECT_THAT(result.lse,
              ElementsAre(DoubleNear(std::log(7), rounding), DoubleNear(std::log(13), rounding)));
}

TEST(Reference, aligns_causal_masks_as_they_are_named) {
  const reference::Expected top_left = Example(Causal::top_left).expected();
  EXPECT_THAT(top_left.output, ElementsAre(DoubleEq(7), DoubleNear((7 + 42) / 4.0, 1e-5)));
  EXPECT_THAT(top_left.scores,
              ElementsAre(0, -infinity, -infinity, 0, DoubleNear(std::log(3), 1e-6), -infinity));
  const reference::Expected bottom_right = Example(Causal::bottom_right).expected();
  EXPECT_THAT(bottom_right.output,
              ElementsAre(DoubleNear(35 / 3.0, 1e-5), DoubleNear((7 + 42 + 189) / 13.0, 1e-5)));
}

TEST(Reference, scales_by_one_over_the_root_of_the_dim_unless_told) {
  const float query[4] = {2, 2, 2, 2}, key[4] = {3, 3, 3, 3}, value[1] = {1};
  AttentionTensors tensors;
  tensors.query = sd(query, 1, 4);
  tensors.key = sd(key, 1, 4);
  tensors.value = sd(value, 1, 1);
  EXPECT_THAT(reference::attention(tensors, {}).scores, ElementsAre(12));
  AttentionOptions options;
  options.scale = -2.0f;
  EXPECT_THAT(reference::attention(tensors, options).scores, ElementsAre(-48));
}

TEST(Reference, uses_the_kv_head_of_each_group_and_any_strides) {
  const float query[4] = {}, key[2] = {},
              value[4] = {1, -1, 5, -1}; // V of head 1 is 5; −1 lies between
  AttentionTensors tensors;
  tensors.query = bhsd(query, 1, 4, 1, 1);
  tensors.key = bhsd(key, 1, 2, 1, 1);
  tensors.value = strided(value, 1, 2, 1, 1, 0, 2, 0);
  EXPECT_THAT(reference::attention(tensors, {}).output, ElementsAre(1, 1, 5, 5));
}

TEST(Reference, leaves_excluded_keys_out_whatever_they_hold) {
  Example example(Causal::top_left);
  example.key[2] = example.value[2] = std::numeric_limits<float>::quiet_NaN();
  const reference::Expected result = example.expected();
  EXPECT_THAT(result.output, ElementsAre(DoubleEq(7), DoubleNear((7 + 42) / 4.0, 1e-5)));
}

TEST(Reference, gives_zeros_where_no_key_is_visible) {
  Example example(Causal::bottom_right);
  AttentionTensors tensors = example.tensors();
  tensors.key.size[2] = tensors.value.size[2] = 1;
  const reference::Expected result = reference::attention(tensors, example.options);
  EXPECT_THAT(result.output, ElementsAre(0, 7));
  EXPECT_THAT(result.lse, ElementsAre(-infinity, 0));
  EXPECT_THAT(result.weights, ElementsAre(0, 1));
  tensors.key.size[2] = tensors.value.size[2] = 0;
  EXPECT_THAT(reference::attention(tensors, example.options).lse, Each(-infinity));
}

TEST(Reference, makes_a_row_nan_that_sees_a_score_of_plus_infinity_or_nan) {
  for (const float culprit : {infinity, std::numeric_limits<float>::quiet_NaN()}) {
    Example example;
    example.key[0] = -infinity;
    example.key[1] = culprit;
    const reference::Expected result = example.expected();
    EXPECT_THAT(result.output, Each(NanSensitiveDoubleEq(not_a_number)));
    EXPECT_THAT(result.lse, Each(NanSensitiveDoubleEq(not_a_number)));
    EXPECT_EQ(result.weights[0], 0);
    EXPECT_TRUE(std::isnan(result.weights[2]));
  }
}

TEST(Reference, weighs_a_score_of_minus_infinity_as_0) {
  Example example;
  example.key[2] = -infinity;
  const reference::Expected result = example.expected();
  EXPECT_EQ(result.weights[2], 0);
  EXPECT_NEAR(result.output[0], (7 + 28) / 3.0, 1e-5);
  example.value[2] = infinity; // visible all the same
  EXPECT_FALSE(std::isfinite(example.expected().output[0]));
}

TEST(Reference, has_the_staged_steps_too) {
  const float scores[3] = {0, -infinity, static_cast<float>(std::log(3))};
  EXPECT_THAT(reference::softmax(sd(scores, 1, 3)),
              ElementsAre(DoubleNear(0.25, 1e-7), 0, DoubleNear(0.75, 1e-7)));
  const float weights[2] = {0.5f, 2}, value[4] = {1, 2, 3, 4};
  EXPECT_THAT(reference::weighted_sum(sd(weights, 1, 2), sd(value, 2, 2)), ElementsAre(6.5, 9));
}

TEST(Reference, has_the_tolerance_of_the_formula) {
  const Example example;
  const reference::Tolerance tolerance = reference::tolerance(example.tensors(), example.options);
  constexpr double u = 0x1p-24;
  const double sigma = double{example.query[1]} * double{example.key[2]};
  const double score = (4 + 1 / 4.0) * sigma, sum = 3 / 3.0 + 3 / 128.0;
  EXPECT_DOUBLE_EQ(tolerance.weights, u * (16 + score + sum));
  EXPECT_DOUBLE_EQ(tolerance.output, u * (16 + score + sum) * 21);
  EXPECT_DOUBLE_EQ(tolerance.lse(-5), u * (16 + score + 10));
  EXPECT_DOUBLE_EQ(tolerance.scores, u * score);
}

TEST(Reference, has_a_tolerance_that_no_unseen_key_and_no_infinity_raises) {
  Example example(Causal::top_left);
  const double before = reference::tolerance(example.tensors(), example.options).output;
  example.key[2] = 1e9f;
  example.value[2] = 1e9f;
  EXPECT_EQ(reference::tolerance(example.tensors(), example.options).output, before);
  example.value[0] = infinity;
  EXPECT_EQ(reference::tolerance(example.tensors(), example.options).output, before);
}

} // namespace
} // namespace simdattn::test
