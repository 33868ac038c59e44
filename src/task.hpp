#pragma once
// One unit of a plan, a block of query rows against one key/value head or several that share a
// mask, made ready for a kernel.

#include "kernel_table.hpp"
#include "plan.hpp"
#include "problem.hpp"

#include <cstddef>
#include <cstdint>

namespace simdattn {

class Task {
public:
  /// Fills `block`; its row_count stays 0 where the unit lies past the end of a sequence of a
  /// ragged batch.
  Task(const Problem& problem, const Plan& plan, const TileSizes& tiles, std::int64_t unit,
       std::byte* scratch);
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  /// What is left to write once the kernels have written every row.
  void finish();

  AttentionBlock block{}; ///< of the first head; leads to those of the others
  Chunks chunks{1, 0};    ///< of the unit's keys

private:
  const Problem& problem_;
  AttentionBlock others_[most_heads - 1];
  KeySegment segments_[most_heads][2];
};

} // namespace simdattn
