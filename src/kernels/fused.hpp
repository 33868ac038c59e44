#pragma once
// The fused call: for one block of queries, all of softmax(scale · Q Kᵀ) V, with the scores of one
// panel and one key block at a time in memory (Dao et al., "FlashAttention", 2022).

#include "kernels/key_blocks.hpp"
#include "kernels/partial.hpp"
#include "kernels/row_sums.hpp"
#include "kernels/score_steps.hpp"
#include "kernels/softmax.hpp"

namespace simdattn::kernels {

/// Calls body with the units of the scores as a constant.
template <class Body>
[[gnu::always_inline]] inline void with_units(const ScoreSteps& steps, Body&& body) {
  if (steps.natural())
    body(Constant<Units::natural>{});
  else
    body(Constant<Units::powers_of_two>{});
}

/// Sets a panel up: queries in scratch, nothing summed yet.
template <class Isa, int Vectors>
void begin_panel(const AttentionBlock& block, const Panel<Isa>& panel) {
  constexpr int width = Vectors * Isa::lanes;
  const float scale = block.steps.natural() ? block.scale : block.scale * log2_e;
  if (by_rows<Vectors>(block)) {
    load_query_rows<Isa>(block, scale);
    fill<Isa>(block.scratch.output, block.row_count * padded_dim<Isa>(block.value_dim), 0.0f);
  } else {
    load_queries<Isa, Vectors>(block, panel, scale);
    fill<Isa>(panel_of(block.scratch.output, panel, block.value_dim), block.value_dim * width,
              0.0f);
  }
  for (int lane = 0; lane < width; ++lane) {
    block.scratch.row_max[panel.first_row + lane] = -__builtin_inff();
    block.scratch.row_sum[panel.first_row + lane] = 0.0f;
  }
}

/// Scores of a panel and a run of keys in scratch, up to `stage`.
template <class Isa, int Vectors>
void make_scores(const AttentionBlock& block, const Panel<Isa>& panel, const KeyBlock& keys,
                 const VisibleKeys<Isa, Vectors>& visible, MaskEffect mask,
                 ScoreStage stage = ScoreStage::masked) {
  const KernelScratch& scratch = block.scratch;
  if (by_rows<Vectors>(block)) {
    make_packed_scores(block, panel, keys, visible, mask);
    return spread_scores<Isa>(panel.row_count, keys.count, scratch.scores);
  }
  const bool mask_joins = mask_joins_product(block);
  // Other steps look at every score.
  const bool hidden_next = stage == ScoreStage::masked && mask_joins;
  panel_scores<Isa, Vectors>(panel_of(scratch.query, panel, block.dim), block.dim, keys,
                             hidden_next ? visible : VisibleKeys<Isa, Vectors>(keys.count),
                             mask_joins ? loaded_mask(block, mask) : MaskValues{},
                             values_ahead(block, panel, keys), scratch.scores, scratch.tile_max);
  finish_scores(block, panel, keys, visible, mask, stage);
}

/// Which keys of a run a panel's lanes don't see.
template <class Isa, int Vectors>
Exclusion<Isa, Vectors> exclusion(const AttentionBlock& block, const Panel<Isa>& panel,
                                  const KeyBlock& keys, bool by_mask) {
  return {{block.rows + panel.first_row, panel.row_count, keys.first, keys.count},
          by_mask ? block.scratch.mask : nullptr,
          by_rows<Vectors>(block) ? packed_rows<Isa>(block.row_count) : Vectors * Isa::lanes};
}

/// Adds values · weights to dims [first_dim, first_dim + dims) of a panel's output, skipping what a
/// row does not see.
template <class Isa, int Vectors>
[[gnu::noinline]] void add_visible_values(const AttentionBlock& block, const Panel<Isa>& panel,
                                          const KeyBlock& keys, bool by_mask, int first_dim,
                                          int dims) {
  const KernelScratch& scratch = block.scratch;
  const auto hides = exclusion<Isa, Vectors>(block, panel, keys, by_mask);
  for_tiles<4>(dims, [&](auto tile, int d) {
    output_skipping<Isa, Vectors, tile>(scratch.scores, keys, first_dim + d,
                                        scratch.tile_max + Isa::tiles.panel_rows, hides,
                                        panel_of(scratch.output, panel, block.value_dim));
  });
}

/// output = output · correction + Vᵀ · weights, of a panel and a run of keys.
template <class Isa, int Vectors>
void add_values(const AttentionBlock& block, const Panel<Isa>& panel, const KeyBlock& keys,
                const VisibleKeys<Isa, Vectors>& visible, bool by_mask) {
  const KernelScratch& scratch = block.scratch;
  const float* correction = scratch.tile_max + Isa::tiles.panel_rows;
  const bool hides = by_mask || visible.in_part();
  if (by_rows<Vectors>(block)) {
    return row_output<Isa>(scratch.scores, panel.row_count, keys, block.from_memory,
                           block.value_dim, correction, scratch.output, hides, [&](float* sums) {
                             row_sums_skipping<Isa>(
                                 scratch.scores, panel.row_count, keys, block.value_dim,
                                 exclusion<Isa, Vectors>(block, panel, keys, by_mask), sums);
                           });
  }
  panel_output<Isa, Vectors>(scratch.scores, keys, visible, block.value_dim, correction,
                             panel_of(scratch.output, panel, block.value_dim), hides,
                             keys_ahead(block, panel, keys), [&](int dim, int dims) {
                               add_visible_values<Isa, Vectors>(block, panel, keys, by_mask, dim,
                                                                dims);
                             });
}

/// Adds a run of keys to a panel's sums. The mask is in scratch.
template <class Isa, int Vectors>
void attend(const AttentionBlock& block, const Panel<Isa>& panel, const KeyBlock& keys,
            MaskEffect mask) {
  const KernelScratch& scratch = block.scratch;
  const VisibleKeys<Isa, Vectors> visible(block, panel, keys.first, keys.count);
  int count = keys.count;
  if (by_rows<Vectors>(block))
    count = make_packed_scores(block, panel, keys, visible, mask);
  else
    make_scores(block, panel, keys, visible, mask);
  with_units(block.steps, [&](auto units) {
    online_softmax<Isa, Vectors, units.value>(
        scratch.scores, count, scratch.tile_max, scratch.row_max + panel.first_row,
        scratch.row_sum + panel.first_row, scratch.tile_max + Isa::tiles.panel_rows);
  });
  add_values(block, panel, keys, visible, mask == MaskEffect::may_exclude);
}

/// Brings the rows' sinks into their sums; the factor of each row's output goes to `factor`.
template <class Isa, int Vectors>
void join_sinks(const AttentionBlock& block, const Panel<Isa>& panel, float* factor) {
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  alignas(64) float sinks[width];
  for (int lane = 0; lane < width; ++lane) {
    sinks[lane] = block.rows[panel.first_row + smaller(lane, panel.row_count - 1)].sink;
  }
  with_units(block.steps, [&](auto units) {
    for (int lane = 0; lane < width; lane += lanes) {
      const int row = panel.first_row + lane;
      join_sink<Isa, units.value>(Isa::load(sinks + lane), block.scratch.row_max + row,
                                  block.scratch.row_sum + row, factor + lane);
    }
  });
}

/// Normalises a panel's sums and writes its rows of output and lse.
template <class Isa, int Vectors>
void finish_panel(const AttentionBlock& block, const Panel<Isa>& panel) {
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  const KernelScratch& scratch = block.scratch;
  const QueryRow* rows = block.rows + panel.first_row;
  const float* row_max = scratch.row_max + panel.first_row;
  const float* row_sum = scratch.row_sum + panel.first_row;
  float* factor = scratch.tile_max;
  for (int lane = 0; lane < width; lane += lanes)
    Isa::store(factor + lane, Isa::broadcast(1.0f));
  if (block.steps.sinks) join_sinks<Isa, Vectors>(block, panel, factor);
  for (int lane = 0; lane < width; lane += lanes) {
    Isa::store(factor + lane,
               Isa::mul(Isa::load(factor + lane), normaliser<Isa>(Isa::load(row_sum + lane))));
  }
  if (by_rows<Vectors>(block)) {
    store_rows<Isa>(block, factor);
  } else {
    store_transposed<Isa, Vectors>(
        panel_of(scratch.output, panel, block.value_dim), block.value_dim, factor,
        [&](int r) { return static_cast<float*>(rows[r].output); }, panel.row_count,
        block.output_dim_stride);
  }
  const double unit = block.steps.natural() ? 1.0 : ln_2;
  for (int r = 0; r < panel.row_count; ++r) {
    if (rows[r].lse == nullptr) continue;
    const double sum = static_cast<double>(row_sum[r]);
    *rows[r].lse = static_cast<float>(static_cast<double>(row_max[r]) * unit + __builtin_log(sum));
  }
}

/// The second pass, when weights are wanted: every score again, now that each row's maximum and sum
/// are known.
template <class Isa>
void write_weights(const AttentionBlock& block, const Panels<Isa>& panels) {
  const KernelScratch& scratch = block.scratch;
  float* ones = scratch.tile_max + Isa::tiles.panel_rows;
  fill<Isa>(ones, Isa::tiles.panel_rows, 1.0f);
  for_key_blocks<Isa, Reads::keys>(block, 0, block.key_count, [&](const KeyBlock& keys) {
    panels.each([&](const Panel<Isa>& panel, auto vectors) {
      const QueryRow* rows = block.rows + panel.first_row;
      const MaskEffect mask = load_mask<Isa, vectors>(block, panel, keys);
      make_scores(block, panel, keys,
                  VisibleKeys<Isa, vectors>(block, panel, keys.first, keys.count), mask);
      with_units(block.steps, [&](auto units) {
        final_softmax<Isa, vectors, units.value>(scratch.scores, keys.count,
                                                 scratch.row_max + panel.first_row,
                                                 scratch.row_sum + panel.first_row);
      });
      const auto row_at = [&](int r) {
        return rows[r].weights + keys.first * block.weights_stride;
      };
      store_transposed<Isa, vectors>(scratch.scores, keys.count, ones, row_at, panel.row_count,
                                     block.weights_stride);
    });
  });
}

/// body(block) for a block and the heads that are done along with it.
template <class Body>
[[gnu::always_inline]] inline void for_heads(const AttentionBlock& block, Body&& body) {
  for (const AttentionBlock* head = &block; head != nullptr; head = head->next_head)
    body(*head);
}

/// Sets every panel up, in every head.
template <class Isa>
void begin(const AttentionBlock& block, const Panels<Isa>& panels) {
  for_heads(block, [&](const AttentionBlock& head) {
    panels.each(
        [&](const Panel<Isa>& panel, auto vectors) { begin_panel<Isa, vectors>(head, panel); });
  });
}

/// Output, lse and weights of every row, once all keys are in the sums.
template <class Isa>
void finish(const AttentionBlock& block, const Panels<Isa>& panels) {
  panels.each(
      [&](const Panel<Isa>& panel, auto vectors) { finish_panel<Isa, vectors>(block, panel); });
  if (block.rows[0].weights != nullptr) write_weights(block, panels);
}

/// KernelTable::fused.
template <class Isa>
void fused(const AttentionBlock& block) {
  const Panels<Isa> panels(block);
  begin(block, panels);
  std::int64_t first = block.end_key, end = block.first_key;
  for (int p = 0; p < panels.count; ++p) {
    first = smaller(first, panels.panel[p].some_first);
    end = larger(end, panels.panel[p].some_end);
  }
  first = larger(first, block.first_key);
  end = smaller(end, block.end_key);
  for_key_blocks<Isa, Reads::both>(block, first, end, [&](const KeyBlock& keys) {
    panels.each([&](const Panel<Isa>& panel, auto vectors) {
      const std::int64_t from = larger(larger(keys.first, panel.some_first), first);
      const std::int64_t stop = smaller(keys.first + keys.count, panel.some_end);
      if (from >= stop) return;
      const KeyBlock part = keys.part(from, stop);
      const MaskEffect mask = load_mask<Isa, vectors>(block, panel, part);
      if (mask == MaskEffect::excludes_every) return;
      for_heads(block, [&](const AttentionBlock& head) {
        attend<Isa, vectors>(head, panel, &head == &block ? part : part.in_head(block, head), mask);
      });
    });
  });
  if (block.by_rows) add_packed_sums<Isa>(block.row_count, block.scratch.row_sum);
  if (block.partials == nullptr) {
    return for_heads(block, [&](const AttentionBlock& head) { finish(head, panels); });
  }
  panels.each([&](const Panel<Isa>& panel, auto vectors) {
    save_partial<Isa, vectors>(block, panel, block.partials);
  });
}

/// KernelTable::merge.
template <class Isa>
void merge(const AttentionBlock& block) {
  const Panels<Isa> panels(block);
  begin(block, panels);
  for (int chunk = 0; chunk < block.partial_count; ++chunk) {
    float* partial =
        block.partials + static_cast<std::int64_t>(chunk) * block.row_count * (block.value_dim + 2);
    panels.each([&](const Panel<Isa>& panel, auto vectors) {
      with_units(block.steps, [&](auto units) {
        join_partial<Isa, vectors, units.value>(block, panel, partial);
      });
    });
  }
  finish(block, panels);
}

} // namespace simdattn::kernels
