#pragma once
// A call's arguments once they are known to be right: what plan and execute work on.

#include <cstdint>

#include "simdattn/attention.hpp"

namespace simdattn {

struct Problem {
  std::int64_t batch = 0;
  std::int64_t query_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t group = 0;       ///< query heads of one key/value head
  std::int64_t query_count = 0; ///< Lq
  std::int64_t key_count = 0;   ///< Lkv
  int dim = 0;                  ///< D; 1 where there is no query × key product
  int value_dim = 0;            ///< Dv; 0 where there is no product with V
  float scale = 1.0f;
  Causal causal = Causal::none;

  TensorView query; ///< for softmax and weighted sum alone: rows of scores or weights
  TensorView key;
  TensorView value;
  MutableTensorView output;
  MutableTensorView lse;
  MutableTensorView weights; ///< for scores alone: the scores

  /// Rows of one key/value head: its query heads are packed, token by token.
  std::int64_t packed_rows() const noexcept { return group * query_count; }
  bool empty() const noexcept { return batch == 0 || query_heads == 0 || query_count == 0; }
};

} // namespace simdattn
