#include "onnx_attention.hpp"

#include <algorithm>
#include <stdexcept>

namespace simdattn::test {
namespace {

// Positions of the operator's inputs and outputs.
constexpr std::size_t query = 0, key = 1, value = 2, attn_mask = 3, past_key = 4, past_value = 5,
                      nonpad_kv_seqlen = 6;
constexpr std::size_t output_y = 0, qk_matmul = 3;

const OnnxTensor& required(const OnnxTest& test, std::size_t position) {
  const OnnxTensor* tensor = test.input(position);
  if (tensor == nullptr)
    throw std::invalid_argument("input " + std::to_string(position) + " is missing");
  return *tensor;
}

template <class T>
TensorView dense_view(const OnnxTensor& tensor) {
  std::int64_t size[4] = {1, 1, 1, 1};
  std::copy_backward(tensor.dims.begin(), tensor.dims.end(), size + 4);
  return bhsd(tensor.data<T>(), size[0], size[1], size[2], size[3]);
}

TensorView key_or_value(const OnnxTest& test, std::size_t position) {
  return view_by_heads(required(test, position),
                       static_cast<std::int64_t>(test.attribute("kv_num_heads", 0)));
}

// What an expected output looks like decides how ours is laid out.
TestTensor like_output(const OnnxTest& test, std::size_t position) {
  const OnnxTensor& y = *test.output(position);
  const TensorView view = view_by_heads(y, heads_of_query(test));
  return TestTensor({view.size[0], view.size[1], view.size[2], view.size[3]},
                    y.dims.size() == 3 ? Layout::bshd : Layout::bhsd);
}

TestTensor joined_along_seq(const TensorView& first, const TensorView& second) {
  TestTensor joined({first.size[0], first.size[1], first.size[2] + second.size[2], first.size[3]},
                    Layout::bhsd);
  const auto copy = [&](const TensorView& part, std::int64_t first_row) {
    const auto* elements = static_cast<const float*>(part.data);
    for_each_index({part.size[0], part.size[1], part.size[2], part.size[3]}, [&](auto b, auto h,
                                                                                 auto i, auto d) {
      joined.at(b, h, first_row + i, d) = elements[b * part.stride[0] + h * part.stride[1] +
                                                   i * part.stride[2] + d * part.stride[3]];
    });
  };
  copy(first, 0);
  copy(second, first.size[2]);
  return joined;
}

} // namespace

bool has_past(const OnnxTest& test) noexcept { return test.input(past_key) != nullptr; }

std::int64_t heads_of_query(const OnnxTest& test) {
  return static_cast<std::int64_t>(test.attribute("q_num_heads", 0));
}

TensorView view_by_heads(const OnnxTensor& tensor, std::int64_t heads) {
  if (tensor.dims.size() == 4) return dense_view<float>(tensor);
  return bshd(tensor.data<float>(), tensor.dims.at(0), tensor.dims.at(1), heads,
              tensor.dims.at(2) / heads);
}

OnnxAttention::OnnxAttention(const OnnxTest& test, Past past)
    : output_(like_output(test, output_y)) {
  inputs_.query = view_by_heads(required(test, query), heads_of_query(test));
  inputs_.key = key_or_value(test, key);
  inputs_.value = key_or_value(test, value);
  options_.softcap = static_cast<float>(test.attribute("softcap", 0));
  const double scale = test.attribute("scale", 0); // 0: absent
  if (scale != 0) options_.scale = static_cast<float>(scale);

  if (has_past(test)) set_past(test, past);
  if (const OnnxTensor* mask = test.input(attn_mask)) set_mask(*mask);
  set_visible_keys(test);
  if (test.output(qk_matmul) != nullptr) set_qk_matmul_output(test);
}

void OnnxAttention::set_past(const OnnxTest& test, Past past) {
  inputs_.past_key = key_or_value(test, past_key);
  inputs_.past_value = key_or_value(test, past_value);
  past_length_ = inputs_.past_key.size[2];
  present_key_ = joined_along_seq(inputs_.past_key, inputs_.key);
  present_value_ = joined_along_seq(inputs_.past_value, inputs_.value);
  if (past == Past::second_segment) return;
  inputs_.key = present_key_->view();
  inputs_.value = present_value_->view();
  inputs_.past_key = inputs_.past_value = TensorView();
}

// Of rank 2 to 4. Keys that a mask doesn't reach are excluded: the views end before them.
void OnnxAttention::set_mask(const OnnxTensor& mask) {
  inputs_.mask = mask.type == DataType::boolean ? dense_view<bool>(mask) : dense_view<float>(mask);
  const std::int64_t reached = inputs_.mask.size[3];
  const std::int64_t past_rows = std::min(reached, inputs_.past_key.size[2]);
  mask_is_shorter_ = reached < inputs_.past_key.size[2] + inputs_.key.size[2];
  inputs_.past_key.size[2] = inputs_.past_value.size[2] = past_rows;
  inputs_.key.size[2] = inputs_.value.size[2] = reached - past_rows;
}

// Key lengths and causality: key j is visible iff j ≤ i + offset, where the offset is
// nonpad_kv_seqlen − Lq, or the past's length, or 0.
void OnnxAttention::set_visible_keys(const OnnxTest& test) {
  const bool causal = test.attribute("is_causal", 0) != 0;
  const std::int64_t batch = inputs_.query.size[0];
  if (const OnnxTensor* lengths = test.input(nonpad_kv_seqlen)) {
    if (causal && mask_is_shorter_)
      throw std::invalid_argument("causal lengths with a mask that is shorter than the keys");
    const auto* first = lengths->data<std::int64_t>();
    kv_lengths_.assign(first, first + batch);
    for (std::int64_t& length : kv_lengths_)
      length = std::min(length, inputs_.past_key.size[2] + inputs_.key.size[2]);
    inputs_.kv_lengths = per_batch<const std::int64_t>(kv_lengths_.data(), batch);
    if (causal) options_.causal = Causal::bottom_right;
  } else if (causal) {
    options_.causal = Causal::top_left;
    query_offsets_.assign(static_cast<std::size_t>(batch), past_length_);
    inputs_.query_offsets = per_batch<const std::int64_t>(query_offsets_.data(), batch);
  }
}

// By qk_matmul_output_mode; the last one is the weights.
void OnnxAttention::set_qk_matmul_output(const OnnxTest& test) {
  if (mask_is_shorter_)
    throw std::invalid_argument("qk_matmul_output with a mask that is shorter than the keys");
  constexpr std::optional<ScoreStage> stages[] = {ScoreStage::raw, ScoreStage::capped,
                                                  ScoreStage::masked, std::nullopt};
  const double mode = test.attribute("qk_matmul_output_mode", 0);
  if (!(mode >= 0 && mode < std::size(stages)))
    throw std::invalid_argument("qk_matmul_output_mode is " + std::to_string(mode));
  stage_ = stages[static_cast<std::size_t>(mode)];
  qk_matmul_output_ = like_output(test, qk_matmul);
}

AttentionTensors OnnxAttention::tensors() {
  AttentionTensors tensors = inputs_;
  tensors.output = output_.mutable_view();
  if (qk_matmul_output_) tensors.weights = qk_matmul_output_->mutable_view();
  return tensors;
}

Status OnnxAttention::run(const Implementation* implementation) {
  Context context;
  context.implementation = implementation;
  context.threads = 1;
  AttentionTensors call = tensors();
  if (stage_) {
    if (Status status = attention_scores(call, *stage_, options_, context); !status.ok())
      return status;
    call.weights = MutableTensorView();
  }
  return scaled_dot_product_attention(call, options_, context);
}

} // namespace simdattn::test
