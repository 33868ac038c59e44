// Query, key and value of a trained model against that model's own attention probabilities and
// outputs.

#include "minilm.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

constexpr int layers[] = {0, 5};                   // the first and the last
constexpr std::int64_t real_keys[] = {20, 13, 12}; // of each sentence; padding follows

AttentionTensors whole_inputs(const MiniLmLayer& layer) {
  AttentionTensors tensors;
  tensors.query = whole(layer.query);
  tensors.key = whole(layer.key);
  tensors.value = whole(layer.value);
  return tensors;
}

class MiniLmParagraph : public MiniLmTest {};

TEST_P(MiniLmParagraph, gives_the_models_results) {
  for (const int number : layers) {
    SCOPED_TRACE("layer " + std::to_string(number));
    const MiniLmLayer layer = read_layer("paragraph", number);
    expect_results(whole_inputs(layer), layer);
  }
}

// Three sentences of different lengths, by every way to leave out the padding.
class MiniLmSentences : public MiniLmTest {
protected:
  // As one batch. `leave_out_padding` adds what does that.
  template <class LeaveOutPadding>
  void expect_the_models_results(LeaveOutPadding leave_out_padding) const {
    for (const int number : layers) {
      SCOPED_TRACE("layer " + std::to_string(number));
      const MiniLmLayer layer = read_layer("sentences", number);
      AttentionTensors tensors = whole_inputs(layer);
      leave_out_padding(tensors);
      expect_results(tensors, layer);
    }
  }
};

TEST_P(MiniLmSentences, give_the_models_results_through_views_of_the_real_keys) {
  for (const int number : layers)
    for (std::int64_t sentence = 0; sentence < 3; ++sentence) {
      SCOPED_TRACE("layer " + std::to_string(number) + ", sentence " + std::to_string(sentence));
      const MiniLmLayer layer = read_layer("sentences", number);
      const std::int64_t keys = real_keys[sentence];
      AttentionTensors tensors;
      tensors.query = entry(layer.query, sentence);
      tensors.key = rows_of(entry(layer.key, sentence), keys);
      tensors.value = rows_of(entry(layer.value, sentence), keys);
      expect_results(tensors, entry(layer.context, sentence),
                     columns_of(entry(layer.probabilities, sentence), keys));
    }
}

// Padding has the lowest finite float, which must neither overflow nor leave a weight.
TEST_P(MiniLmSentences, give_the_models_results_with_its_additive_mask) {
  const NpyTensor mask = read_additive_mask("sentences");
  expect_the_models_results([&](AttentionTensors& tensors) { tensors.mask = whole(mask); });
}

TEST_P(MiniLmSentences, give_the_models_results_with_a_bool_mask) {
  const NpyMask mask = read_bool_mask("sentences");
  expect_the_models_results([&](AttentionTensors& tensors) { tensors.mask = whole(mask); });
}

TEST_P(MiniLmSentences, give_the_models_results_with_key_lengths) {
  expect_the_models_results(
      [](AttentionTensors& tensors) { tensors.kv_lengths = per_batch(real_keys, 3); });
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(MiniLmParagraph);
SIMDATTN_FOR_EACH_IMPLEMENTATION(MiniLmSentences);

} // namespace
} // namespace simdattn::test
