// verify(): what `run --verify` counts as right and as wrong.

#include "array.hpp"
#include "lesson.hpp"
#include "simdattn/simdattn.hpp"
#include "verify.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace simdattn::test {
namespace {

using command::Array;
using command::Deviation;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// A call with grouped heads and all outputs, right until a test spoils it.
class Verify : public testing::Test {
protected:
  Verify() {
    tensors.query = tensor_view(query);
    tensors.key = tensor_view(key);
    tensors.value = tensor_view(value);
    tensors.output = mutable_view(output);
    tensors.weights = mutable_view(weights);
    tensors.lse = bhsd(command::values(lse), 2, 4, 6, 1);
    options.causal = Causal::bottom_right; // with two rows that see no key
  }
  void compute() { ASSERT_TRUE(scaled_dot_product_attention(tensors, options).ok()); }
  // Which of output, weights and lse are within their tolerance.
  std::vector<bool> within() const {
    std::vector<bool> result;
    for (const Deviation& deviation : command::verify(tensors, options))
      result.push_back(deviation.within());
    return result;
  }

  Array query = command::random_normal({2, 4, 6, 8}, 1);
  Array key = command::random_normal({2, 2, 4, 8}, 2);
  Array value = command::random_normal({2, 2, 4, 3}, 3);
  Array output = command::zeros(DataType::f32, {2, 4, 6, 3});
  Array weights = command::zeros(DataType::f32, {2, 4, 6, 4});
  Array lse = command::zeros(DataType::f32, {2, 4, 6, 1});
  AttentionTensors tensors;
  AttentionOptions options;
};

const std::vector<bool> all_right{true, true, true};
const std::vector<bool> output_wrong{false, true, true};
const std::vector<bool> weights_wrong{true, false, true};
const std::vector<bool> lse_wrong{true, true, false};

TEST_F(Verify, AcceptsACorrectResult) {
  compute();
  EXPECT_EQ(within(), all_right);
}

TEST_F(Verify, NamesTheWorstElement) {
  compute();
  command::values(output)[((1 * 4 + 2) * 6 + 5) * 3 + 1] += 0.01f;
  const Deviation deviation = command::verify(tensors, options)[0];
  EXPECT_FALSE(deviation.within());
  EXPECT_EQ(deviation.place, "[batch 1, head 2, query 5, column 1]");
  EXPECT_NEAR(deviation.difference, 0.01, 1e-5);
  EXPECT_LT(deviation.tolerance, 1e-4);
}

TEST_F(Verify, RefusesASmallErrorInAnyOutput) {
  for (const float error : {1e-4f, -1e-4f, infinity, nan}) {
    compute();
    command::values(output)[100] += error;
    EXPECT_EQ(within(), output_wrong) << error;
    compute();
    command::values(weights)[100] += error;
    EXPECT_EQ(within(), weights_wrong) << error;
    compute();
    command::values(lse)[47] += error;
    EXPECT_EQ(within(), lse_wrong) << error;
  }
}

TEST_F(Verify, RefusesAFiniteLogSumExpOfARowThatSeesNoKey) {
  compute();
  ASSERT_EQ(command::values(lse)[0], -infinity);
  command::values(lse)[0] = 3;
  EXPECT_EQ(within(), lse_wrong);
}

TEST_F(Verify, RefusesANumberWhereTheReferenceHasNan) {
  command::values(query)[5 * 8] = nan; // the last query of the first head
  compute();
  EXPECT_EQ(within(), all_right);
  ASSERT_TRUE(std::isnan(command::values(output)[5 * 3]));
  command::values(output)[5 * 3] = 1;
  EXPECT_EQ(within(), output_wrong);
}

TEST_F(Verify, EmptyResultsAreRight) {
  query = command::random_normal({2, 4, 0, 8}, 1);
  output = command::zeros(DataType::f32, {2, 4, 0, 3});
  tensors.query = tensor_view(query);
  tensors.output = mutable_view(output);
  tensors.weights = {};
  tensors.lse = {};
  EXPECT_EQ(within(), std::vector<bool>{true});
}

} // namespace
} // namespace simdattn::test
