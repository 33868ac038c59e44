#include "sequence.hpp"

#include "elements.hpp"

#include <algorithm>

namespace simdattn::reference {
namespace {

// The places of sequence `index`, before lengths and options.
Sequence place(const AttentionTensors& tensors, std::int64_t index) {
  Sequence sequence;
  sequence.index = index;
  if (is_ragged(tensors)) {
    sequence.first_query = integer(tensors.query_starts, index);
    sequence.query_count = integer(tensors.query_starts, index + 1) - sequence.first_query;
    sequence.first_key = integer(tensors.kv_starts, index);
    sequence.key_count = integer(tensors.kv_starts, index + 1) - sequence.first_key;
    return sequence;
  }
  sequence.batch = index;
  sequence.query_count = tensors.query.size[2];
  sequence.key_count = column_count(tensors);
  return sequence;
}

} // namespace

bool Sequence::allows(std::int64_t i, std::int64_t j) const noexcept {
  const std::int64_t behind = distance(i, j);
  return i < query_length && j < key_length && !(causal && behind > 0) &&
         !(window_left >= 0 && -behind > window_left) &&
         !(window_right >= 0 && behind > window_right);
}

bool is_ragged(const AttentionTensors& tensors) noexcept {
  return tensors.query_starts.data != nullptr;
}

std::vector<Sequence> sequences_of(const AttentionTensors& tensors,
                                   const AttentionOptions& options) {
  const std::int64_t count =
      is_ragged(tensors) ? tensors.query_starts.size[0] - 1 : tensors.query.size[0];
  std::vector<Sequence> sequences;
  for (std::int64_t index = 0; index < count; ++index) {
    const auto number = [index](const TensorView& list, std::int64_t when_absent) {
      return list.data != nullptr ? integer(list, index) : when_absent;
    };
    Sequence sequence = place(tensors, index);
    sequence.query_length = number(tensors.query_lengths, sequence.query_count);
    sequence.key_length = number(tensors.kv_lengths, sequence.key_count);
    sequence.offset = options.causal == Causal::bottom_right
                          ? sequence.key_length - sequence.query_length
                          : number(tensors.query_offsets, 0);
    sequence.causal = options.causal != Causal::none;
    sequence.window_left = options.window_left;
    sequence.window_right = options.window_right;
    sequences.push_back(sequence);
  }
  return sequences;
}

std::int64_t column_count(const AttentionTensors& tensors) {
  const std::int64_t past = tensors.past_key.data != nullptr ? tensors.past_key.size[2] : 0;
  if (!is_ragged(tensors)) return past + tensors.key.size[2];
  std::int64_t longest = 0;
  for (std::int64_t index = 1; index < tensors.kv_starts.size[0]; ++index)
    longest = std::max(longest,
                       integer(tensors.kv_starts, index) - integer(tensors.kv_starts, index - 1));
  return longest;
}

} // namespace simdattn::reference
