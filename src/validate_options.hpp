#pragma once
// What a call may have besides query, key, value and outputs.

#include "problem.hpp"

namespace simdattn {

/// Checks options and copies them into the problem, whose dim is set.
Status check_options(const AttentionOptions& options, Problem* problem) noexcept;

/// Checks the lists of lengths, offsets and starts, and sets batch, query_count and key_count,
/// which until then hold what query and key say: 1, all queries and all keys where the batch is
/// ragged.
Status check_sequences(const AttentionTensors& tensors, Problem* problem) noexcept;

/// Checks mask, slopes and sinks. `mask_rows` is the seq size of query.
Status check_score_tensors(const AttentionTensors& tensors, std::int64_t mask_rows,
                           Problem* problem) noexcept;

} // namespace simdattn
