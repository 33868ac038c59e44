// Query, key and value of a trained model against that model's own attention probabilities and
// outputs.

#include "support/comparison.hpp"
#include "support/implementations.hpp"
#include "support/npy.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace simdattn::test {
namespace {

constexpr double model_tolerance = 5e-6;
constexpr double lse_tolerance = 2e-5;

class MiniLm : public ImplementationTest {
protected:
  void SetUp() override {
    ImplementationTest::SetUp();
    if (!std::filesystem::exists(folder()))
      GTEST_SKIP() << "the tensors of the model are not there: " << folder();
  }

  static std::string folder() { return std::string(SIMDATTN_SHARED_DATA) + "/minilm"; }

  static NpyTensor read(const std::string& input, int layer, const std::string& what) {
    return read_npy(folder() + "/" + input + "_layer" + std::to_string(layer) + "_" + what +
                    ".npy");
  }

  // One entry of the batch, against the first `keys` of its keys.
  void expect_the_models_results(const std::string& input, int layer, std::int64_t entry,
                                 std::int64_t keys) const;
};

// The part of a [batch, heads, seq, dim] file that one batch entry's first rows (and columns) are.
TensorView part(const NpyTensor& file, std::int64_t entry, std::int64_t rows,
                std::int64_t columns) {
  const auto& shape = file.shape;
  const std::int64_t row = shape[3], head = shape[2] * row;
  return strided<const float>(file.elements.data() + entry * shape[1] * head, 1, shape[1], rows,
                              columns, 0, head, row);
}

void MiniLm::expect_the_models_results(const std::string& input, int layer, std::int64_t entry,
                                       std::int64_t keys) const {
  const NpyTensor query = read(input, layer, "query"), key = read(input, layer, "key"),
                  value = read(input, layer, "value"), context = read(input, layer, "context"),
                  probabilities = read(input, layer, "probs");
  const std::int64_t heads = query.shape[1], queries = query.shape[2], dim = query.shape[3];
  TestTensor output({1, heads, queries, dim}, Layout::bhsd),
      lse({1, heads, queries, 1}, Layout::bhsd), weights({1, heads, queries, keys}, Layout::bhsd);
  AttentionTensors tensors;
  tensors.query = part(query, entry, queries, dim);
  tensors.key = part(key, entry, keys, dim);
  tensors.value = part(value, entry, keys, dim);
  tensors.output = output.mutable_view();
  tensors.lse = lse.mutable_view();
  tensors.weights = weights.mutable_view();
  Context call;
  call.implementation = implementation();
  const Status status = scaled_dot_product_attention(tensors, {}, call);
  ASSERT_TRUE(status.ok()) << status.message();

  const auto expect_near = [](const TestTensor& actual, const std::vector<double>& expected,
                              double tolerance) {
    EXPECT_TRUE(elements_fulfil(actual, [&](std::size_t i) {
      return Demand{expected[i], tolerance};
    }));
  };
  {
    SCOPED_TRACE("output");
    expect_near(output, elements_of(part(context, entry, queries, dim)), model_tolerance);
  }
  {
    SCOPED_TRACE("weights");
    expect_near(weights, elements_of(part(probabilities, entry, queries, keys)), model_tolerance);
  }
  SCOPED_TRACE("lse");
  expect_near(lse, reference::attention(tensors, {}).lse, lse_tolerance);
}

TEST_P(MiniLm, paragraph_in_the_first_layer) { expect_the_models_results("paragraph", 0, 0, 122); }

TEST_P(MiniLm, paragraph_in_the_last_layer) { expect_the_models_results("paragraph", 5, 0, 122); }

// The real keys of each sentence, through a view: no mask is needed.
class MiniLmSentences : public MiniLm {
protected:
  void expect_the_models_results_of_all(int layer) const {
    constexpr std::int64_t real_keys[] = {20, 13, 12};
    for (std::int64_t sentence = 0; sentence < 3; ++sentence) {
      SCOPED_TRACE("sentence " + std::to_string(sentence));
      expect_the_models_results("sentences", layer, sentence, real_keys[sentence]);
    }
  }
};

TEST_P(MiniLmSentences, in_the_first_layer) { expect_the_models_results_of_all(0); }

TEST_P(MiniLmSentences, in_the_last_layer) { expect_the_models_results_of_all(5); }

SIMDATTN_FOR_EACH_IMPLEMENTATION(MiniLm);
SIMDATTN_FOR_EACH_IMPLEMENTATION(MiniLmSentences);

} // namespace
} // namespace simdattn::test
