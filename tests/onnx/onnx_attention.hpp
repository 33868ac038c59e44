#pragma once
// The ONNX operator Attention (opset 23 and 24) in terms of this library's call.

#include "onnx_files.hpp"
#include "simdattn/staged.hpp"
#include "support/test_tensor.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace simdattn::test {

/// How past keys and values reach the library.
enum class Past {
  concatenated,   ///< the present ones, which the operator returns anyway, are the keys and values
  second_segment, ///< as they lie, through past_key and past_value
};

/// One call of the operator, with the memory for its results. Refers to the test it was made of.
class OnnxAttention {
public:
  /// Throws std::invalid_argument when the node asks for what has no counterpart here.
  OnnxAttention(const OnnxTest& test, Past past);
  OnnxAttention(const OnnxAttention&) = delete; // views refer to members
  OnnxAttention& operator=(const OnnxAttention&) = delete;

  /// Computes output() and, where the node has it, qk_matmul_output().
  Status run(const Implementation* implementation);

  AttentionTensors tensors();
  const AttentionOptions& options() const noexcept { return options_; }
  /// What qk_matmul_output() holds: scores of one stage, or the weights when there is none.
  std::optional<ScoreStage> stage() const noexcept { return stage_; }

  const TestTensor& output() const noexcept { return output_; }
  const std::optional<TestTensor>& qk_matmul_output() const noexcept { return qk_matmul_output_; }
  /// Past and new keys and values together; absent where there is no past.
  const std::optional<TestTensor>& present_key() const noexcept { return present_key_; }
  const std::optional<TestTensor>& present_value() const noexcept { return present_value_; }

private:
  void set_past(const OnnxTest& test, Past past);
  void set_mask(const OnnxTensor& mask);
  void set_visible_keys(const OnnxTest& test);
  void set_qk_matmul_output(const OnnxTest& test);

  AttentionTensors inputs_;
  AttentionOptions options_;
  std::int64_t past_length_ = 0;
  bool mask_is_shorter_ = false; // than the keys: the last keys are left out
  std::optional<ScoreStage> stage_;
  std::vector<std::int64_t> kv_lengths_, query_offsets_;
  std::optional<TestTensor> present_key_, present_value_, qk_matmul_output_;
  TestTensor output_;
};

/// Whether a test has past keys and values.
bool has_past(const OnnxTest& test) noexcept;
/// The attribute q_num_heads: 0 where the tensors are of rank 4, which says it.
std::int64_t heads_of_query(const OnnxTest& test);

/// A tensor of the operator as [batch, heads, seq, dim]: one of rank 4 lies so, one of rank 3 is
/// [batch, seq, heads · dim].
TensorView view_by_heads(const OnnxTensor& tensor, std::int64_t heads);

} // namespace simdattn::test
