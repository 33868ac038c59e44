#include "plan.hpp"

#include <algorithm>

namespace simdattn {
namespace {

/// Rows this far apart fall on few cache sets: reading them in place was measured at 60 % of the speed of
/// neighbouring rows, copying them first at 80 %.
constexpr std::int64_t far_apart_bytes = 2048;
/// With fewer rows to share it, a copy costs more than it saves.
constexpr std::int64_t rows_worth_a_copy = 32;

/// Scratch of one worker stays below this, and below half of L2, as long as blocks can shrink.
constexpr std::size_t scratch_budget = 160 * 1024;
constexpr int least_key_block = 16;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// How the rows of a tensor lie, and what that asks for.
struct Rows {
  bool copy;  ///< each key block is copied before use
  bool space; ///< the scratch has room for that; so too where a larger dim would ask for a copy
};

Rows look_at_rows(const TensorView& view, std::int64_t sharing_rows) {
  const bool elements_apart = view.stride[3] != 1 && view.size[3] > 1;
  const bool rows_apart = sharing_rows >= rows_worth_a_copy &&
                          view.stride[2] >= far_apart_bytes / static_cast<std::int64_t>(sizeof(float));
  return {elements_apart || (rows_apart && view.stride[2] != view.size[3]), elements_apart || rows_apart};
}

/// Block sizes and what they make of the scratch.
struct Blocks {
  int rows;
  int keys;
};

struct GatherSpace {
  bool key;
  bool value;
};

ScratchLayout lay_out(const Problem& problem, const TileSizes& tiles, Blocks blocks, GatherSpace gather) {
  const auto padded_rows = static_cast<std::size_t>(round_up(blocks.rows, tiles.lanes));
  const auto keys = static_cast<std::size_t>(blocks.keys);
  const auto dim = static_cast<std::size_t>(problem.dim), value_dim = static_cast<std::size_t>(problem.value_dim);
  const auto panel_rows = static_cast<std::size_t>(tiles.panel_rows);
  ScratchLayout layout;
  const auto take = [&](std::size_t bytes) {
    const std::size_t start = layout.bytes;
    layout.bytes += (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
    return start;
  };
  layout.query = take(padded_rows * dim * sizeof(float));
  layout.output = take(padded_rows * value_dim * sizeof(float));
  layout.scores = take(std::min(padded_rows, panel_rows) * keys * sizeof(float));
  layout.row_max = take(padded_rows * sizeof(float));
  layout.row_sum = take(padded_rows * sizeof(float));
  layout.tile_max = take(4 * panel_rows * sizeof(float));
  layout.mask = take(problem.mask_kind == MaskKind::none ? 0 : std::min(padded_rows, panel_rows) * keys * sizeof(float));
  layout.key = take(gather.key ? keys * dim * sizeof(float) : 0);
  layout.value = take(gather.value ? keys * value_dim * sizeof(float) : 0);
  layout.rows = take(static_cast<std::size_t>(blocks.rows) * sizeof(QueryRow));
  return layout;
}

/// Makes blocks smaller until the scratch is within the budget: first keys, down to where a block no longer pays for
/// the softmax's bookkeeping, then rows, then keys again.
Blocks shrink(const Problem& problem, const TileSizes& tiles, Blocks blocks, GatherSpace gather, std::size_t budget) {
  const auto too_large = [&] { return lay_out(problem, tiles, blocks, gather).bytes > budget; };
  while (too_large() && blocks.keys > 64) blocks.keys = std::max(64, blocks.keys / 2);
  while (too_large() && blocks.rows > tiles.panel_rows) {
    blocks.rows = static_cast<int>(round_up(blocks.rows, tiles.panel_rows)) - tiles.panel_rows;
  }
  while (too_large() && blocks.keys > least_key_block) blocks.keys = std::max(least_key_block, blocks.keys / 2);
  return blocks;
}

std::size_t budget_of(const CacheSizes& caches) {
  return caches.l2 == 0 ? scratch_budget : std::min(scratch_budget, std::max<std::size_t>(caches.l2 / 2, 16 * 1024));
}

} // namespace

Plan make_plan(const Problem& problem, const TileSizes& tiles, const CacheSizes& caches, int threads) noexcept {
  const bool large_dim = std::max(problem.dim, problem.value_dim) > 64;
  const auto clip = [](int block, std::int64_t count) {
    return static_cast<int>(std::clamp<std::int64_t>(count, 1, block));
  };
  const int rows = clip(tiles.row_block, problem.packed_rows());
  const Rows key = look_at_rows(problem.key, problem.packed_rows());
  const Rows value = look_at_rows(problem.value, problem.packed_rows());
  const Rows past_key = look_at_rows(problem.past_key, problem.packed_rows());
  const Rows past_value = look_at_rows(problem.past_value, problem.packed_rows());
  const GatherSpace gather{key.space || past_key.space, value.space || past_value.space};
  const std::size_t budget = budget_of(caches);
  const Blocks blocks =
      shrink(problem, tiles, {rows, clip(large_dim ? tiles.key_block_large_dim : tiles.key_block, problem.key_count)},
             gather, budget);

  Plan plan;
  plan.row_block = blocks.rows;
  plan.key_block = blocks.keys;
  plan.row_blocks = (problem.packed_rows() + plan.row_block - 1) / plan.row_block;
  plan.tasks = problem.batch * problem.kv_heads * plan.row_blocks;
  plan.workers = static_cast<int>(std::clamp<std::int64_t>(plan.tasks, 1, threads));
  plan.gather_key = key.copy;
  plan.gather_value = value.copy;
  plan.gather_past_key = past_key.copy;
  plan.gather_past_value = past_value.copy;
  plan.layout = lay_out(problem, tiles, blocks, gather);
  // Blocks shrink where a dimension grows, but the size that is asked for never does: from where the largest blocks
  // exceed the budget it is the budget, until the smallest blocks exceed it too.
  const Blocks largest{rows, clip(std::max(tiles.key_block, tiles.key_block_large_dim), problem.key_count)};
  const std::size_t unshrunk = lay_out(problem, tiles, largest, gather).bytes;
  plan.worker_bytes = unshrunk <= budget ? unshrunk : std::max(budget, plan.layout.bytes);
  plan.workspace_bytes = static_cast<std::size_t>(plan.workers) * plan.worker_bytes + scratch_alignment;
  return plan;
}

} // namespace simdattn
