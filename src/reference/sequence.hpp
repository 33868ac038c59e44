#pragma once
// The sequences of a call: which queries belong to which keys, where they stand, and which keys a
// query may see by its place alone.

#include "simdattn/attention.hpp"

#include <cstdint>
#include <vector>

namespace simdattn::reference {

/// One batch entry, or one sequence of a ragged batch. Queries and keys are numbered from 0 in
/// each.
struct Sequence {
  std::int64_t index = 0;       ///< entry or sequence
  std::int64_t batch = 0;       ///< its index on the batch axis of the tensors
  std::int64_t first_query = 0; ///< where its queries begin on the seq axis
  std::int64_t query_count = 0;
  std::int64_t first_key = 0;    ///< where its keys begin on the seq axis of key and value
  std::int64_t key_count = 0;    ///< past keys included
  std::int64_t query_length = 0; ///< queries from here on see no key
  std::int64_t key_length = 0;   ///< keys from here on are excluded
  std::int64_t offset = 0;       ///< query i stands where key i + offset does
  bool causal = false;
  std::int64_t window_left = -1;
  std::int64_t window_right = -1;

  /// j − p_i: how far key `j` lies behind the position of query `i`.
  std::int64_t distance(std::int64_t i, std::int64_t j) const noexcept { return j - (i + offset); }
  /// Whether lengths, causal and window let query `i` see key `j`.
  bool allows(std::int64_t i, std::int64_t j) const noexcept;
};

bool is_ragged(const AttentionTensors& tensors) noexcept;
std::vector<Sequence> sequences_of(const AttentionTensors& tensors,
                                   const AttentionOptions& options);

/// Columns of the weights: Lpast + Lnew, or the keys of the longest sequence.
std::int64_t column_count(const AttentionTensors& tensors);

} // namespace simdattn::reference
