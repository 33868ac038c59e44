#pragma once
// A call's arguments once they are known to be right: what plan and execute work on.

#include "kernel_table.hpp"
#include "simdattn/attention.hpp"

#include <cstdint>

namespace simdattn {

struct Problem {
  std::int64_t batch = 0; ///< entries, or sequences of a ragged batch
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t group = 0;       ///< query heads of one key/value head
  std::int64_t query_count = 0; ///< Lq; of the longest sequence of a ragged batch
  std::int64_t key_count = 0;   ///< Lkv, likewise; with the past
  std::int64_t past_count = 0;  ///< keys in past_key
  int dim = 0;                  ///< D; 1 where there is no query × key product
  int value_dim = 0;            ///< Dv; 0 where there is no product with V
  float scale = 1.0f;
  Causal causal = Causal::none;
  std::int64_t window_left = -1; ///< clamped, so that sums with positions don't overflow
  std::int64_t window_right = -1;
  float softcap = 0.0f;
  ScoreModifier modifier;
  ScoreStage stage = ScoreStage::masked;

  TensorView query; ///< for softmax and weighted sum alone: rows of scores or weights
  TensorView key;
  TensorView value;
  TensorView past_key;
  TensorView past_value;
  MutableTensorView output;
  MutableTensorView lse;
  MutableTensorView weights; ///< for scores alone: the scores
  TensorView mask;           ///< this and the next two with stride 0 along axes of size 1
  TensorView alibi_slopes;
  TensorView sinks;
  TensorView kv_lengths;
  TensorView query_lengths;
  TensorView query_offsets;
  TensorView query_starts;
  TensorView kv_starts;

  bool ragged() const noexcept { return query_starts.data != nullptr; }
  /// Rows of one key/value head: its query heads are packed, token by token.
  std::int64_t packed_rows() const noexcept { return group * query_count; }
  bool empty() const noexcept { return batch == 0 || query_heads == 0 || query_count == 0; }
};

/// One number of a list such as kv_lengths; `otherwise` where the list is absent.
inline std::int64_t number_at(const TensorView& list, std::int64_t index,
                              std::int64_t otherwise) noexcept {
  return list.data == nullptr ? otherwise
                              : static_cast<const std::int64_t*>(list.data)[index * list.stride[0]];
}

} // namespace simdattn
