#include "plan.hpp"

#include <algorithm>

namespace simdattn {
namespace {

/// Rows this far apart fall on few cache sets.
constexpr std::int64_t far_apart_bytes = 2048;
/// With fewer rows to share it, a copy costs more than it saves.
constexpr std::int64_t rows_worth_a_copy = 32;

/// Scratch of one worker stays below this, and below half of L2, as long as blocks can shrink.
constexpr std::size_t scratch_budget = 192 * 1024;
constexpr int least_key_block = 16;
/// Keys and values of a call that are larger than this are taken to come from memory, whatever the
/// size of the last cache: it has others to serve.
constexpr double likely_cached_bytes = 64 * 1024 * 1024;
/// Heads are not joined at the price of smaller blocks.
constexpr int least_joined_keys = 128;

/// Keys are cut into at most so many chunks, none smaller than this, and a head's partial results
/// have at most this many row blocks' worth of rows.
constexpr std::int64_t most_chunks = 16;
constexpr std::int64_t least_chunk = 512;
constexpr std::int64_t most_partial_blocks = 4;
/// With so many units for each worker, chunks need not be tasks.
constexpr std::int64_t enough_units = 4;

/// `count`, but at least 1 and at most `most`.
int clip(int most, std::int64_t count) {
  return static_cast<int>(std::clamp<std::int64_t>(count, 1, most));
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// How the rows of a tensor lie, and what is made of it.
struct Rows {
  bool must_copy;
  bool apart; ///< also where they are neighbours, but a larger dim would be far from the next
  bool dense;
  bool copies_apart;

  Rows(const TensorView& view, const TileSizes& tiles)
      : must_copy(view.stride[3] != 1 && view.size[3] > 1),
        apart(view.stride[2] >= far_apart_bytes / static_cast<std::int64_t>(sizeof(float))),
        dense(view.stride[2] == view.size[3]), copies_apart(tiles.key_block_apart == 0) {}

  /// Whether key blocks are copied before use.
  bool copy(std::int64_t sharing_rows) const {
    return must_copy || (copies_apart && apart && !dense && sharing_rows >= rows_worth_a_copy);
  }
  /// Scratch has room for a copy, so too where only a larger dim would ask for one.
  bool space() const { return must_copy || (copies_apart && apart); }
  /// Whether key blocks are smaller instead.
  bool in_place() const { return !copies_apart && apart && !dense; }
};

/// Block sizes and what they make of the scratch.
struct Blocks {
  int rows;
  int keys;
  int heads;
};

struct GatherSpace {
  bool key;
  bool value;
  bool in_place; ///< rows are far apart and stay there
};

ScratchLayout lay_out(const Problem& problem, const TileSizes& tiles, Blocks blocks,
                      GatherSpace gather) {
  const auto padded_rows = static_cast<std::size_t>(round_up(blocks.rows, tiles.lanes));
  const auto keys = static_cast<std::size_t>(blocks.keys);
  const auto dim = static_cast<std::size_t>(problem.dim);
  const auto whole_dim = static_cast<std::size_t>(round_up(problem.dim, tiles.lanes));
  const auto value_dim = static_cast<std::size_t>(problem.value_dim);
  const auto whole_value_dim = static_cast<std::size_t>(round_up(problem.value_dim, tiles.lanes));
  const auto few_rows = static_cast<std::size_t>(tiles.few_rows);
  const auto panel_rows = static_cast<std::size_t>(tiles.panel_rows);
  ScratchLayout layout;
  const auto take = [&](std::size_t bytes) {
    const std::size_t start = layout.bytes;
    layout.bytes += (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
    return start;
  };
  layout.query = take(padded_rows * whole_dim * sizeof(float));
  layout.output =
      take(std::max(padded_rows * value_dim, 2 * few_rows * whole_value_dim) * sizeof(float));
  layout.row_max = take(padded_rows * sizeof(float));
  layout.row_sum = take(padded_rows * sizeof(float));
  layout.head_bytes = layout.bytes;
  layout.bytes *= static_cast<std::size_t>(blocks.heads);
  layout.scores = take(std::min(padded_rows, panel_rows) * keys * sizeof(float));
  layout.tile_max = take(4 * panel_rows * sizeof(float));
  layout.mask = take(
      problem.mask.data == nullptr ? 0 : std::min(padded_rows, panel_rows) * keys * sizeof(float));
  layout.key = take(gather.key ? keys * dim * sizeof(float) : 0);
  layout.value = take(gather.value ? keys * value_dim * sizeof(float) : 0);
  layout.rows = take(static_cast<std::size_t>(blocks.heads * blocks.rows) * sizeof(QueryRow));
  return layout;
}

/// Makes blocks smaller until the scratch is within the budget: first keys, down to where a block
/// no longer pays for the softmax's bookkeeping, then rows, then keys again.
Blocks shrink(const Problem& problem, const TileSizes& tiles, Blocks blocks, GatherSpace gather,
              std::size_t budget) {
  const auto too_large = [&] { return lay_out(problem, tiles, blocks, gather).bytes > budget; };
  while (too_large() && blocks.keys > 64)
    blocks.keys = std::max(64, blocks.keys / 2);
  while (too_large() && blocks.rows > tiles.panel_rows) {
    blocks.rows = static_cast<int>(round_up(blocks.rows, tiles.panel_rows)) - tiles.panel_rows;
  }
  while (too_large() && blocks.keys > least_key_block)
    blocks.keys = std::max(least_key_block, blocks.keys / 2);
  return blocks;
}

std::size_t budget_of(const CacheSizes& caches) {
  return caches.l2 == 0 ? scratch_budget
                        : std::min(scratch_budget, std::max<std::size_t>(caches.l2 / 2, 16 * 1024));
}

/// Whether this is the fused call, and not one of the steps.
bool is_fused(const Problem& problem) {
  return problem.key.data != nullptr && problem.value_dim != 0;
}

bool is_from_memory(const Problem& problem) {
  const double keys = static_cast<double>(problem.batch) * static_cast<double>(problem.kv_heads) *
                      static_cast<double>(problem.key_count);
  return keys * (problem.dim + problem.value_dim) * sizeof(float) > likely_cached_bytes;
}

/// The most chunks that any number of rows would have.
std::int64_t chunk_limit(const Problem& problem, std::int64_t key_count) {
  if (!is_fused(problem)) return 1;
  return std::clamp<std::int64_t>((key_count + least_chunk - 1) / least_chunk, 1, most_chunks);
}

/// Whether the mask has a row for each query. Where heads share it, several of them can be done
/// together, and its rows be brought into the order of the scores once.
bool masks_rows(const Problem& problem) {
  return problem.mask.data != nullptr && problem.mask.stride[2] != 0 && !problem.ragged() &&
         is_fused(problem);
}

/// The blocks of a call, as large as the implementation asks for or as the budget allows, with room
/// for several heads where they might share a mask and that takes no rows from a block. Not clipped
/// to the rows and keys there are, nor are the heads counted, so that where sums are cut does not
/// depend on that.
Blocks choose_blocks(const Problem& problem, const TileSizes& tiles, GatherSpace gather,
                     std::size_t budget) {
  const std::int64_t rows = problem.packed_rows();
  const bool large_dim = std::max(problem.dim, problem.value_dim) > 64;
  Blocks wanted{tiles.row_block, large_dim ? tiles.key_block_large_dim : tiles.key_block, 1};
  if (gather.in_place) wanted.keys = std::min(wanted.keys, tiles.key_block_apart);
  if (masks_rows(problem) && !gather.key && !gather.value && !few_rows(problem, tiles, rows) &&
      cut_keys(problem, tiles, rows, problem.key_count).count == 1) {
    const Blocks joined =
        shrink(problem, tiles, {wanted.rows, wanted.keys, most_heads}, gather, budget);
    if (joined.rows == wanted.rows && joined.keys >= std::min(wanted.keys, least_joined_keys))
      return joined;
  }
  return shrink(problem, tiles, wanted, gather, budget);
}

/// The workspace of a plan that is complete but for this. Blocks and chunks shrink where a
/// dimension grows, but the size that is asked for never does: from where the largest blocks exceed
/// the budget it is the budget, until the smallest exceed it too.
void size_workspace(const Problem& problem, const TileSizes& tiles, GatherSpace gather,
                    std::size_t budget, int threads, Plan* plan) {
  const std::int64_t rows = problem.packed_rows();
  const Blocks largest{
      clip(tiles.row_block, rows),
      clip(std::max(tiles.key_block, tiles.key_block_large_dim), problem.key_count),
      masks_rows(problem) ? most_heads : 1};
  const std::size_t unshrunk = lay_out(problem, tiles, largest, gather).bytes;
  plan->worker_bytes = unshrunk <= budget ? unshrunk : std::max(budget, plan->layout.bytes);
  const std::int64_t limit = chunk_limit(problem, problem.key_count);
  const auto most_workers = static_cast<std::size_t>(clip(threads, plan->units * limit));
  plan->workspace_bytes = scratch_alignment + most_workers * plan->worker_bytes;
  if (limit == 1) return;
  const std::int64_t partial_rows = std::min(rows * limit, most_partial_blocks * tiles.row_block);
  const auto floats =
      static_cast<std::size_t>(partial_rows) * static_cast<std::size_t>(problem.value_dim + 2);
  plan->partial_bytes =
      (floats * sizeof(float) + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
  // One more line for each unit's counter.
  plan->workspace_bytes += static_cast<std::size_t>(enough_units) * most_workers *
                           (plan->partial_bytes + scratch_alignment);
}

} // namespace

Chunks cut_keys(const Problem& problem, const TileSizes& tiles, std::int64_t packed_rows,
                std::int64_t key_count) noexcept {
  const std::int64_t by_rows =
      most_partial_blocks * tiles.row_block / std::max<std::int64_t>(packed_rows, 1);
  const std::int64_t limit = std::clamp<std::int64_t>(by_rows, 1, chunk_limit(problem, key_count));
  const std::int64_t keys =
      round_up(std::max<std::int64_t>((key_count + limit - 1) / limit, 1), least_chunk);
  return {static_cast<int>(std::max<std::int64_t>((key_count + keys - 1) / keys, 1)), keys};
}

bool few_rows(const Problem& problem, const TileSizes& tiles, std::int64_t packed_rows) noexcept {
  return is_fused(problem) && packed_rows <= tiles.few_rows;
}

int keys_in_block(const Problem& problem, const TileSizes& tiles, const Plan& plan,
                  std::int64_t packed_rows) noexcept {
  if (packed_rows > tiles.panel_rows || few_rows(problem, tiles, packed_rows))
    return plan.key_block;
  return std::min(plan.key_block, tiles.key_block_one_panel);
}

Plan make_plan(const Problem& problem, const TileSizes& tiles, const CacheSizes& caches,
               int threads) noexcept {
  const std::int64_t rows = problem.packed_rows();
  const Rows key(problem.key, tiles), value(problem.value, tiles),
      past_key(problem.past_key, tiles), past_value(problem.past_value, tiles);
  const GatherSpace gather{key.space() || past_key.space(), value.space() || past_value.space(),
                           key.in_place() || value.in_place() || past_key.in_place() ||
                               past_value.in_place()};
  const std::size_t budget = budget_of(caches);
  const Blocks blocks = choose_blocks(problem, tiles, gather, budget);

  Plan plan;
  plan.row_block = clip(blocks.rows, rows);
  plan.key_block = clip(blocks.keys, problem.key_count);
  plan.row_blocks = (rows + plan.row_block - 1) / plan.row_block;
  // Fewer, larger units, as long as there are enough for every thread. Each head comes out the
  // same.
  plan.heads = problem.mask.stride[1] == 0 ? blocks.heads : 1;
  plan.head_units = (problem.kv_heads + plan.heads - 1) / plan.heads;
  if (problem.batch * plan.head_units * plan.row_blocks < enough_units * threads) {
    plan.heads = 1;
    plan.head_units = problem.kv_heads;
  }
  plan.units = problem.batch * plan.head_units * plan.row_blocks;
  plan.from_memory = is_from_memory(problem);
  plan.gather_key = key.copy(rows);
  plan.gather_value = value.copy(rows);
  plan.gather_past_key = past_key.copy(rows);
  plan.gather_past_value = past_value.copy(rows);
  plan.layout = lay_out(problem, tiles, {plan.row_block, plan.key_block, plan.heads}, gather);
  // A sequence of a ragged batch may have fewer rows than the longest, and so more chunks.
  plan.chunks =
      static_cast<int>(problem.ragged() ? chunk_limit(problem, problem.key_count)
                                        : cut_keys(problem, tiles, rows, problem.key_count).count);
  plan.chunk_tasks = plan.chunks > 1 && plan.units < enough_units * threads;
  plan.tasks = plan.chunk_tasks ? plan.units * plan.chunks : plan.units;
  plan.workers = clip(threads, plan.tasks);
  size_workspace(problem, tiles, gather, budget, threads, &plan);
  return plan;
}

} // namespace simdattn
