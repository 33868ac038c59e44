#pragma once
// One unit of a plan, a block of query rows against one key/value head, made ready for a kernel.

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

  AttentionBlock block{};
  Chunks chunks{1, 0}; ///< of the unit's keys

private:
  const Problem& problem_;
  QueryRow* rows_;
  KeySegment segments_[2];
};

} // namespace simdattn
