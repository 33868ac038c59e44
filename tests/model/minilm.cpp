#include "minilm.hpp"

#include "reference/reference.hpp"
#include "simdattn/simdattn.h"
#include "support/comparison.hpp"
#include "support/status.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace simdattn::test {
namespace {

constexpr double model_tolerance = 5e-6;
constexpr double lse_tolerance = 2e-5;

std::string folder() { return std::string(SIMDATTN_SHARED_DATA) + "/minilm"; }

template <class View>
simdattn_tensor to_c(const View& view) {
  simdattn_tensor tensor{};
  tensor.data = const_cast<void*>(static_cast<const void*>(view.data));
  tensor.type = static_cast<std::int32_t>(view.type);
  std::copy_n(view.size, 4, tensor.shape);
  std::copy_n(view.stride, 4, tensor.stride);
  return tensor;
}

// The call that these tests make, through the C header.
Status call_through_c(const AttentionTensors& tensors, const char* implementation) {
  simdattn_tensors arguments{};
  arguments.struct_size = sizeof arguments;
  arguments.query = to_c(tensors.query);
  arguments.key = to_c(tensors.key);
  arguments.value = to_c(tensors.value);
  arguments.mask = to_c(tensors.mask);
  arguments.kv_lengths = to_c(tensors.kv_lengths);
  arguments.output = to_c(tensors.output);
  arguments.lse = to_c(tensors.lse);
  arguments.weights = to_c(tensors.weights);
  simdattn_context context{};
  context.struct_size = sizeof context;
  context.implementation = simdattn_find_implementation(implementation);
  const simdattn_status status = simdattn_attention(&arguments, nullptr, &context);
  if (status.code == SIMDATTN_OK) return {};
  return Status::error(static_cast<StatusCode>(status.code), "%s", status.message);
}

// A weight that is exactly 0 in the model, that of a masked key, must be here too.
::testing::AssertionResult is_near(const TestTensor& actual, const std::vector<double>& expected,
                                   double tolerance) {
  return elements_fulfil(actual, [&](std::size_t i) {
    return Demand{expected.at(i), expected[i] == 0 ? 0 : tolerance};
  });
}

} // namespace

void MiniLmTest::SetUp() {
  ImplementationTest::SetUp();
  if (!std::filesystem::exists(folder()))
    GTEST_SKIP() << "the tensors of the model are not there: " << folder();
}

MiniLmLayer MiniLmTest::read_layer(const std::string& input, int number) {
  const std::string prefix = folder() + "/" + input + "_layer" + std::to_string(number) + "_";
  return {read_npy(prefix + "query.npy"), read_npy(prefix + "key.npy"),
          read_npy(prefix + "value.npy"), read_npy(prefix + "probs.npy"),
          read_npy(prefix + "context.npy")};
}

NpyTensor MiniLmTest::read_additive_mask(const std::string& input) {
  return read_npy(folder() + "/" + input + "_mask.npy");
}

NpyMask MiniLmTest::read_bool_mask(const std::string& input) {
  return read_npy_mask(folder() + "/" + input + "_attend.npy");
}

void MiniLmTest::expect_results(AttentionTensors tensors, const TensorView& context,
                                const TensorView& probabilities) const {
  const auto& [batch, heads, queries, dim] = context.size;
  TestTensor output({batch, heads, queries, dim}, Layout::bhsd),
      lse({batch, heads, queries, 1}, Layout::bhsd),
      weights({batch, heads, queries, probabilities.size[3]}, Layout::bhsd);
  tensors.output = output.mutable_view();
  tensors.lse = lse.mutable_view();
  tensors.weights = weights.mutable_view();
  const auto expect_right = [&](const char* call) {
    SCOPED_TRACE(call);
    EXPECT_TRUE(is_near(output, elements_of(context), model_tolerance)) << "output";
    EXPECT_TRUE(is_near(weights, elements_of(probabilities), model_tolerance)) << "weights";
    EXPECT_TRUE(is_near(lse, reference::attention(tensors, {}).lse, lse_tolerance)) << "lse";
  };
  Context with_implementation;
  with_implementation.implementation = implementation();
  ASSERT_OK(scaled_dot_product_attention(tensors, {}, with_implementation));
  expect_right("the C++ call");

  const char* name = implementation_name(implementation());
  if (find_implementation(name) == nullptr) return; // only the tests have it
  for (TestTensor* tensor : {&output, &lse, &weights})
    tensor->reset();
  ASSERT_OK(call_through_c(tensors, name));
  expect_right("the C call");
}

void MiniLmTest::expect_results(const AttentionTensors& tensors, const MiniLmLayer& layer) const {
  expect_results(tensors, whole(layer.context), whole(layer.probabilities));
}

TensorView whole(const NpyTensor& file) {
  const auto& shape = file.shape;
  return bhsd(file.elements.data(), shape.at(0), shape.at(1), shape.at(2), shape.at(3));
}

TensorView whole(const NpyMask& file) {
  const auto& shape = file.shape;
  return bhsd<const bool>(file.elements.get(), shape.at(0), shape.at(1), shape.at(2), shape.at(3));
}

TensorView entry(const NpyTensor& file, std::int64_t number) {
  TensorView view = whole(file);
  view.data = static_cast<const float*>(view.data) + number * view.stride[0];
  view.size[0] = 1;
  return view;
}

TensorView rows_of(TensorView tensor, std::int64_t count) {
  tensor.size[2] = count;
  return tensor;
}

TensorView columns_of(TensorView tensor, std::int64_t count) {
  tensor.size[3] = count;
  return tensor;
}

} // namespace simdattn::test
