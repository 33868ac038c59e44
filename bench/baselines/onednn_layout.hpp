#pragma once
// The tensors of a call as oneDNN sees them, in place.

#include "simdattn/attention.hpp"

#include <oneapi/dnnl/dnnl.hpp>

namespace simdattn::baseline {

/// The sizes of one call. The query heads that share a key head are its group.
struct Sizes {
  explicit Sizes(const AttentionTensors& tensors);
  std::int64_t batch, kv_heads, group, query_count, key_count;
};

/// Rank 4 where the rows of a group lie evenly spaced, so that they are the rows of one matrix;
/// else rank 5, with a group axis along which keys and values are broadcast. Both times the scores
/// lie as a dense [B, Hq, Lq, Lkv].
struct Layout {
  Layout(const AttentionTensors& tensors, const Sizes& sizes);
  bool group_axis;
  dnnl::memory::desc query, key, value, output, scores;
  dnnl::memory::desc
      mask; ///< what causal_mask() fills: dense, a row of keys for each row of queries
};

/// What is added to the scores: 0 where a query sees a key, −inf elsewhere. `causal` is not none.
dnnl::memory causal_mask(const dnnl::engine& engine, const Layout& layout, const Sizes& sizes,
                         Causal causal);

} // namespace simdattn::baseline
