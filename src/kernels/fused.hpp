#pragma once
// The fused call: for one block of queries, all of softmax(scale · Q Kᵀ) V, with the scores of one panel and one key
// block at a time in memory (Dao et al., "FlashAttention", 2022).

#include "kernels/key_blocks.hpp"
#include "kernels/softmax.hpp"

namespace simdattn::kernels {

inline constexpr float log2_e = 1.44269504088896340736f;
inline constexpr double ln_2 = 0.69314718055994530942;

/// Sets a panel up: queries transposed and scaled, nothing summed yet.
template <class Isa, int Vectors>
void begin_panel(const AttentionBlock& block, const Panel<Isa>& panel) {
  constexpr int width = Vectors * Isa::lanes;
  load_queries<Isa, Vectors>(block, panel, block.scale * log2_e);
  float* output = panel_of(block.scratch.output, panel, block.value_dim);
  for (int i = 0; i < block.value_dim * width; i += Isa::lanes) Isa::store(output + i, Isa::broadcast(0.0f));
  for (int lane = 0; lane < width; ++lane) {
    block.scratch.row_max[panel.first_row + lane] = -__builtin_inff();
    block.scratch.row_sum[panel.first_row + lane] = 0.0f;
  }
}

/// Scores of `keys` in scratch, −inf where a row of the panel does not see a key.
template <class Isa, int Vectors>
void visible_scores(const AttentionBlock& block, const Panel<Isa>& panel, const KeyBlock& keys,
                    const LaneLimits<Isa, Vectors>* limits) {
  const KernelScratch& scratch = block.scratch;
  panel_scores<Isa, Vectors>(panel_of(scratch.query, panel, block.dim), block.dim, keys, scratch.scores,
                             scratch.tile_max);
  if (limits == nullptr) return;
  hide_scores<Isa, Vectors>(*limits, panel, keys.first, keys.count, scratch.scores);
  find_max<Isa, Vectors>(scratch.scores, keys.count, scratch.tile_max);
}

/// Adds one key block to a panel's sums.
template <class Isa, int Vectors>
void attend(const AttentionBlock& block, const Panel<Isa>& panel, const KeyBlock& keys, bool partial) {
  const KernelScratch& scratch = block.scratch;
  float* output = panel_of(scratch.output, panel, block.value_dim);
  float* correction = scratch.tile_max + Isa::tiles.panel_rows;
  const auto soften = [&] {
    online_softmax<Isa, Vectors>(scratch.scores, keys.count, scratch.tile_max, scratch.row_max + panel.first_row,
                                 scratch.row_sum + panel.first_row, correction);
  };
  if (!partial) {
    visible_scores<Isa, Vectors>(block, panel, keys, nullptr);
    soften();
    return panel_output<Isa, Vectors>(scratch.scores, keys, block.value_dim, correction, output);
  }
  const LaneLimits<Isa, Vectors> limits(block.rows + panel.first_row, panel.row_count, keys.first, keys.count);
  visible_scores<Isa, Vectors>(block, panel, keys, &limits);
  soften();
  bool finite = true;
  for_partial_keys(panel, keys.first, keys.count, [&](int j) {
    finite = finite && all_finite<Isa>(keys.value + j * keys.value_stride, block.value_dim);
  });
  if (finite) return panel_output<Isa, Vectors>(scratch.scores, keys, block.value_dim, correction, output);
  panel_output_skipping<Isa, Vectors>(scratch.scores, keys, block.value_dim, correction, limits, output);
}

/// Normalises a panel's sums and writes its rows of output and lse.
template <class Isa, int Vectors>
void finish_panel(const AttentionBlock& block, const Panel<Isa>& panel) {
  const KernelScratch& scratch = block.scratch;
  const QueryRow* rows = block.rows + panel.first_row;
  const float* row_max = scratch.row_max + panel.first_row;
  const float* row_sum = scratch.row_sum + panel.first_row;
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    Isa::store(scratch.tile_max + v * Isa::lanes, normaliser<Isa>(Isa::load(row_sum + v * Isa::lanes)));
  });
  store_transposed<Isa, Vectors>(
      panel_of(scratch.output, panel, block.value_dim), block.value_dim, scratch.tile_max,
      [&](int r) { return static_cast<float*>(rows[r].output); }, panel.row_count, block.output_dim_stride);
  for (int r = 0; r < panel.row_count; ++r) {
    if (rows[r].lse == nullptr) continue;
    const double sum = static_cast<double>(row_sum[r]);
    *rows[r].lse = static_cast<float>(static_cast<double>(row_max[r]) * ln_2 + __builtin_log(sum));
  }
}

/// The second pass, when weights are wanted: every score again, now that each row's maximum and sum are known.
template <class Isa>
void write_weights(const AttentionBlock& block, const Panel<Isa>* panels, int panel_count) {
  const KernelScratch& scratch = block.scratch;
  for (int lane = 0; lane < Isa::tiles.panel_rows; ++lane) scratch.tile_max[Isa::tiles.panel_rows + lane] = 1.0f;
  for_key_blocks<Isa, Reads::keys>(block, 0, block.key_count, [&](const KeyBlock& keys) {
    for (int p = 0; p < panel_count; ++p) {
      with_vectors<Isa>(panels[p].vectors, [&](auto vectors) {
        const Panel<Isa>& panel = panels[p];
        const QueryRow* rows = block.rows + panel.first_row;
        const LaneLimits<Isa, vectors> limits(rows, panel.row_count, keys.first, keys.count);
        visible_scores<Isa, vectors>(block, panel, keys, &limits);
        final_softmax<Isa, vectors>(scratch.scores, keys.count, scratch.row_max + panel.first_row,
                                    scratch.row_sum + panel.first_row);
        const auto row_at = [&](int r) { return rows[r].weights + keys.first * block.weights_stride; };
        store_transposed<Isa, vectors>(scratch.scores, keys.count, scratch.tile_max + Isa::tiles.panel_rows, row_at,
                                       panel.row_count, block.weights_stride);
      });
    }
  });
}

/// KernelTable::fused.
template <class Isa>
void fused(const AttentionBlock& block) {
  Panel<Isa> panels[Isa::tiles.row_block / Isa::tiles.panel_rows];
  const int panel_count = make_panels(block, panels);
  std::int64_t first = block.key_count, end = 0;
  for (int p = 0; p < panel_count; ++p) {
    first = smaller(first, panels[p].some_first);
    end = larger(end, panels[p].some_end);
    with_vectors<Isa>(panels[p].vectors, [&](auto vectors) { begin_panel<Isa, vectors>(block, panels[p]); });
  }
  for_key_blocks<Isa, Reads::both>(block, first, end, [&](const KeyBlock& keys) {
    for (int p = 0; p < panel_count; ++p) {
      const Panel<Isa>& panel = panels[p];
      const std::int64_t from = larger(keys.first, panel.some_first);
      const std::int64_t stop = smaller(keys.first + keys.count, panel.some_end);
      if (from >= stop) continue;
      const bool partial = from < panel.all_first || stop > panel.all_end;
      with_vectors<Isa>(panel.vectors, [&](auto vectors) {
        attend<Isa, vectors>(block, panel, keys.part(from, stop), partial);
      });
    }
  });
  for (int p = 0; p < panel_count; ++p) {
    with_vectors<Isa>(panels[p].vectors, [&](auto vectors) { finish_panel<Isa, vectors>(block, panels[p]); });
  }
  if (block.rows[0].weights != nullptr) write_weights<Isa>(block, panels, panel_count);
}

} // namespace simdattn::kernels
