// NaN and infinities in the tensors of a call.

#include "differential/call.hpp"
#include "reference/head.hpp"

#include <cfloat>
#include <cmath>
#include <vector>

namespace simdattn::differential {
namespace {

using reference::HeadScores;
using reference::Sequence;

void poison_row(Random& random, StridedMemory<float>& tensor, std::int64_t b, std::int64_t h,
                std::int64_t i, float largest) {
  if (tensor.repeats() || !random.chance(60)) return;
  const float poison = random.pick({NAN, NAN, INFINITY, -INFINITY, largest});
  const bool everywhere = random.chance(50);
  for (std::int64_t d = 0; d < tensor.size()[3]; ++d)
    if (everywhere || random.chance(30)) tensor.at(b, h, i, d) = poison;
}

} // namespace

void Call::poison_unseen(Random& random) {
  const AttentionTensors all = tensors();
  const AttentionOptions unmodified = case_.options;
  // Raw scores show what excluded keys hold; with the largest float they would depend on the order
  // of the sum.
  const float largest = case_.stage ? INFINITY : FLT_MAX;
  std::vector<bool> seen;
  reference::for_each_head(
      all, unmodified, [&](const Sequence& sequence, auto head, const HeadScores& scores, auto) {
        if (head % case_.group == 0)
          seen.assign(static_cast<std::size_t>(sequence.key_count), false);
        for (std::int64_t j = 0; j < sequence.key_count; ++j)
          for (std::int64_t i = 0; i < sequence.query_count && !seen[j]; ++i)
            seen[j] = scores.visible(i, j);
        if (head % case_.group != case_.group - 1) return;
        for (std::int64_t j = 0; j < sequence.key_count; ++j) {
          if (seen[j]) continue;
          const bool in_past = j < case_.past;
          const std::int64_t row = in_past ? j : sequence.first_key + j - case_.past;
          for (StridedMemory<float>* tensor :
               {in_past ? &past_key_ : &key_, in_past ? &past_value_ : &value_})
            poison_row(random, *tensor, sequence.batch, head / case_.group, row, largest);
        }
      });
}

void Call::poison_anywhere(Random& random) {
  // Not both: whether NaN in the mask or a computed score of −inf wins is nobody's promise.
  const bool in_mask = additive_mask_.present() && random.chance(30);
  StridedMemory<float>* const tensors[] = {&query_, &key_, &value_, &past_key_, &past_value_};
  for (std::int64_t count = random.between(1, 3); count > 0; --count) {
    StridedMemory<float>& tensor = in_mask ? additive_mask_ : *random.pick(tensors);
    const Sizes& size = tensor.size();
    if (size[0] * size[1] * size[2] * size[3] == 0) continue;
    tensor.at(random.below(size[0]), random.below(size[1]), random.below(size[2]),
              random.below(size[3])) = in_mask ? NAN : random.pick({NAN, NAN, INFINITY, -INFINITY});
  }
}

} // namespace simdattn::differential
