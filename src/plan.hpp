#pragma once
// Pure: shapes, tile sizes, cache sizes and threads in; blocks, tasks and the layout of the
// workspace out. How the work is cut depends on the shapes of one key/value head alone, never on
// threads, batch or heads.

#include "cpu_features.hpp"
#include "kernel_table.hpp"
#include "problem.hpp"

#include <cstddef>
#include <cstdint>

namespace simdattn {

/// Where the parts of one worker's scratch lie, in bytes from its start.
struct ScratchLayout {
  std::size_t query = 0;
  std::size_t output = 0;
  std::size_t scores = 0;
  std::size_t row_max = 0;
  std::size_t row_sum = 0;
  std::size_t tile_max = 0;
  std::size_t mask = 0;
  std::size_t key = 0;
  std::size_t value = 0;
  std::size_t rows = 0;
  std::size_t head_bytes = 0; ///< from one head's query, output, row_max and row_sum to the next's
  std::size_t bytes = 0;
};

/// The most heads in one unit.
inline constexpr int most_heads = 2;

/// How the keys of one head are cut where its rows alone would make few tasks. Chunks begin at
/// multiples of `keys`.
struct Chunks {
  int count;
  std::int64_t keys;
};

struct Plan {
  int row_block = 0;           ///< rows in one unit
  int key_block = 0;           ///< the most keys in a block
  std::int64_t row_blocks = 0; ///< of one key/value head
  int heads = 1;               ///< key/value heads in one unit: more than 1 where they share a mask
  std::int64_t head_units = 0; ///< how many times that many heads a batch entry has, rounded up
  std::int64_t units = 0;      ///< (batch, heads, row block)
  int chunks = 1;              ///< the most that a unit's keys are cut into
  bool chunk_tasks =
      false; ///< whether chunks are tasks of their own, or one after the other in their unit's task
  std::int64_t tasks = 0;
  int workers = 0;
  bool from_memory = false; ///< see AttentionBlock
  bool gather_key = false;  ///< see KeySegment
  bool gather_value = false;
  bool gather_past_key = false;
  bool gather_past_value = false;
  ScratchLayout layout;
  std::size_t worker_bytes =
      0; ///< from one worker's scratch to the next; the partial results follow the last
  std::size_t partial_bytes = 0;   ///< of one unit
  std::size_t workspace_bytes = 0; ///< for any alignment of the workspace
};

/// What scratch is aligned to.
inline constexpr std::size_t scratch_alignment = 64;

/// Cuts the keys of one head. Decided by its rows and keys alone, so that results are the same
/// whatever else is in the batch and however many threads there are.
Chunks cut_keys(const Problem& problem, const TileSizes& tiles, std::int64_t packed_rows,
                std::int64_t key_count) noexcept;

/// Whether keys and values are better read row by row for so many rows of one head: see
/// AttentionBlock::by_rows.
bool few_rows(const Problem& problem, const TileSizes& tiles, std::int64_t packed_rows) noexcept;

/// Keys in a block for so many rows of one head: the plan's, but where one panel takes them all,
/// fewer.
int keys_in_block(const Problem& problem, const TileSizes& tiles, const Plan& plan,
                  std::int64_t packed_rows) noexcept;

/// Plans a call for at most `threads` (≥ 1) threads.
Plan make_plan(const Problem& problem, const TileSizes& tiles, const CacheSizes& caches,
               int threads) noexcept;

} // namespace simdattn
