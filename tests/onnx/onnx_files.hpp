#pragma once
// Reads the node tests of ONNX: a model of one node, its inputs and the outputs that it must give.

#include "simdattn/tensor.hpp"
#include "support/guarded_buffer.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace simdattn::test {

/// A dense tensor, between guard pages. float16 is widened to float32.
struct OnnxTensor {
  std::string name;
  std::vector<std::int64_t> dims;
  DataType type = DataType::none; ///< f32, boolean or i64
  bool was_float16 = false;
  GuardedBuffer elements{0, Placement::back};

  template <class T>
  const T* data() const noexcept {
    return reinterpret_cast<const T*>(elements.data());
  }
};

struct OnnxNode {
  std::string op_type;
  std::vector<std::string> inputs, outputs; ///< by position; an empty name is an absent one
  std::map<std::string, double> attributes; ///< those that are a float or an integer
};

/// One test: its tensors are in the order of the node's inputs and outputs.
struct OnnxTest {
  OnnxNode node;
  std::vector<std::optional<OnnxTensor>> inputs, outputs;

  /// An input or output at a position; nullptr when absent.
  const OnnxTensor* input(std::size_t position) const noexcept;
  const OnnxTensor* output(std::size_t position) const noexcept;
  double attribute(const char* name, double otherwise) const;
};

/// Reads a test's folder, with model.onnx and test_data_set_0/. Throws std::runtime_error, which
/// names the file, when that can't be read or isn't what this reader knows.
OnnxTest read_onnx_test(const std::string& folder);

} // namespace simdattn::test
