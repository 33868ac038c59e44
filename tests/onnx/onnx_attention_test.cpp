// The node tests that ONNX has for its operator Attention, on every implementation and by the
// oracle. Where the operator's definition leaves something open, these data say it.

#include "onnx_attention.hpp"
#include "reference/reference.hpp"
#include "support/comparison.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "test_names.hpp"

#include <cmath>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <vector>

namespace simdattn::test {
namespace {

// The data were computed in f32, as our results are: each may be off by one computation's bound.
constexpr double computations = 2;
// Those in float16 were rounded to it at the end.
constexpr double float16_rounding = 0x1p-11;

std::string data_folder() { return std::string(SIMDATTN_SHARED_DATA) + "/onnx-attention"; }

void skip_without_data() {
  if (!std::filesystem::exists(data_folder()))
    GTEST_SKIP() << "the node tests of ONNX are not there: " << data_folder();
}

std::vector<double> elements(const TestTensor& tensor) { return elements_of(tensor.view()); }

// An expected output in [batch, heads, seq, dim] order.
std::vector<double> expected_elements(const OnnxTest& test, std::size_t position) {
  return elements_of(view_by_heads(*test.output(position), heads_of_query(test)));
}

// What each element may be off by.
using ToleranceAt = std::function<double(std::size_t)>;

// Every number of one of the operator's outputs. An exact 0 is that of an excluded row or key, and
// an infinity that of its score; neither has a tolerance.
void expect_output(const std::vector<double>& actual, const OnnxTest& test, std::size_t position,
                   const ToleranceAt& tolerance_at) {
  const std::vector<double> expected = expected_elements(test, position);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const bool exact = expected[i] == 0 || std::isinf(expected[i]);
    const double rounding =
        test.output(position)->was_float16 ? float16_rounding * std::abs(expected[i]) : 0;
    const Demand demand{expected[i], exact ? 0 : tolerance_at(i) + rounding};
    EXPECT_TRUE(fulfils(static_cast<float>(actual[i]), demand))
        << test.node.outputs[position] << ": element " << i << " is " << actual[i] << ", must be "
        << demand.value << " within " << demand.tolerance;
  }
}

// The bounds of one call.
class OnnxTolerances {
public:
  explicit OnnxTolerances(OnnxAttention& call)
      : value_dim_(static_cast<std::size_t>(call.output().shape().dim)),
        all_(reference::tolerance(call.tensors(), call.options())) {
    if (!call.qk_matmul_output()) return;
    keys_ = static_cast<std::size_t>(call.qk_matmul_output()->shape().dim);
    if (call.stage())
      scores_ = reference::scores(call.tensors(), call.options(), *call.stage()).errors;
  }

  ToleranceAt of_output() const {
    return [this](std::size_t i) { return computations * all_.rows.at(i / value_dim_).output; };
  }
  ToleranceAt of_qk_matmul_output() const {
    return [this](std::size_t i) {
      return computations * (scores_.empty() ? all_.rows.at(i / keys_).weights : scores_.at(i));
    };
  }

private:
  std::size_t value_dim_, keys_ = 0;
  reference::Tolerance all_;
  std::vector<double> scores_; // empty where qk_matmul_output holds the weights
};

using Parameters = std::tuple<const char*, const Implementation*>;

class OnnxOperator : public ::testing::TestWithParam<Parameters> {
protected:
  void SetUp() override {
    skip_where_unsupported(implementation());
    skip_without_data();
  }

  const char* name() const { return std::get<0>(GetParam()); }
  const Implementation* implementation() const { return std::get<1>(GetParam()); }

  void expect_the_outputs(const OnnxTest& test, Past past) const {
    OnnxAttention call(test, past);
    ASSERT_OK(call.run(implementation()));
    const OnnxTolerances tolerances(call);
    expect_output(elements(call.output()), test, 0, tolerances.of_output());
    ASSERT_EQ(call.present_key().has_value(), test.output(1) != nullptr);
    if (call.present_key()) {
      EXPECT_EQ(elements(*call.present_key()), expected_elements(test, 1));
      EXPECT_EQ(elements(*call.present_value()), expected_elements(test, 2));
    }
    if (call.qk_matmul_output())
      expect_output(elements(*call.qk_matmul_output()), test, 3, tolerances.of_qk_matmul_output());
  }
};

TEST_P(OnnxOperator, Attention) {
  const OnnxTest test = read_onnx_test(data_folder() + "/" + name());
  ASSERT_EQ(test.node.op_type, "Attention");
  {
    SCOPED_TRACE("past concatenated, if there is one");
    expect_the_outputs(test, Past::concatenated);
  }
  if (!has_past(test)) return;
  SCOPED_TRACE("past as a second segment");
  expect_the_outputs(test, Past::second_segment);
}

INSTANTIATE_TEST_SUITE_P(On, OnnxOperator,
                         ::testing::Combine(::testing::ValuesIn(onnx_attention_tests),
                                            ::testing::ValuesIn(every_implementation())),
                         [](const ::testing::TestParamInfo<Parameters>& tested) {
                           return std::string(std::get<0>(tested.param)) + "_on_" +
                                  implementation_name(std::get<1>(tested.param));
                         });

// The oracle, which the other tests go by, says the same.
class OnnxOracle : public ::testing::TestWithParam<const char*> {
protected:
  void SetUp() override { skip_without_data(); }
};

TEST_P(OnnxOracle, Attention) {
  const OnnxTest test = read_onnx_test(data_folder() + "/" + GetParam());
  OnnxAttention call(test, has_past(test) ? Past::second_segment : Past::concatenated);
  const reference::Expected expected = reference::attention(call.tensors(), call.options());
  const OnnxTolerances tolerances(call);
  expect_output(expected.output, test, 0, tolerances.of_output());
  if (!call.qk_matmul_output()) return;
  expect_output(call.stage()
                    ? reference::scores(call.tensors(), call.options(), *call.stage()).values
                    : expected.weights,
                test, 3, tolerances.of_qk_matmul_output());
}

INSTANTIATE_TEST_SUITE_P(Of, OnnxOracle, ::testing::ValuesIn(onnx_attention_tests),
                         [](const ::testing::TestParamInfo<const char*>& tested) {
                           return std::string(tested.param);
                         });

class OnnxData : public ::testing::Test {
protected:
  void SetUp() override { skip_without_data(); }
};

TEST_F(OnnxData, hold_no_test_but_those_that_run) {
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(data_folder()))
    if (entry.is_directory()) folders.push_back(entry.path().filename());
  EXPECT_THAT(folders, ::testing::UnorderedElementsAreArray(onnx_attention_tests));
}

} // namespace
} // namespace simdattn::test
