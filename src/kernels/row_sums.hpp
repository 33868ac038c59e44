#pragma once
// The scores of a few query rows, several keys to a vector, and their outputs, row by row, each
// padded to whole vectors.

#include "kernels/row_products.hpp"
#include "kernels/score_steps.hpp"

#include <cstdint>

namespace simdattn::kernels {

/// Gives each key a vector, as a modifier and the weights take it. Its lanes past the rows get
/// scores of the next keys.
template <class Isa>
void spread_scores(int row_count, int keys, float* scores) {
  const int rows = packed_rows<Isa>(row_count);
  for (int j = keys - 1; j > 0; --j)
    Isa::store(scores + j * Isa::lanes, Isa::load(scores + j * rows));
}

/// Takes that back.
template <class Isa>
void pack_scores(int row_count, int keys, float* scores) {
  const int rows = packed_rows<Isa>(row_count);
  for (int j = 1; j < keys; ++j)
    Isa::store(scores + j * rows, Isa::load(scores + j * Isa::lanes));
}

/// tile_max[lane] = the maximum of the row that a lane has packed scores of, in so many vectors.
template <class Isa>
void find_packed_max(int row_count, int vectors, const float* scores, float* tile_max) {
  constexpr int lanes = Isa::lanes;
  const int rows = packed_rows<Isa>(row_count);
  find_max<Isa, 1>(scores, vectors, tile_max);
  for (int lane = lanes - 1; lane >= rows; --lane)
    tile_max[lane - rows] = larger(tile_max[lane - rows], tile_max[lane]);
  for (int lane = rows; lane < lanes; ++lane)
    tile_max[lane] = tile_max[lane - rows];
}

/// Everything between product and softmax for packed scores, in so many vectors.
template <class Isa, int Vectors>
void finish_packed_scores(const AttentionBlock& block, const Panel<Isa>& panel,
                          const KeyBlock& keys, const VisibleKeys<Isa, Vectors>& visible,
                          MaskEffect mask, int vectors) {
  const ScoreSteps& steps = block.steps;
  const KernelScratch& scratch = block.scratch;
  const int key_step = Isa::lanes / packed_rows<Isa>(block.row_count);
  if (steps.softcap != 0.0f) cap_scores<Isa, 1>(scratch, vectors, steps.softcap);
  if (steps.slopes) add_slopes<Isa, 1>(block, panel, keys, key_step);
  if (steps.modifier.modify != nullptr) {
    spread_scores<Isa>(block.row_count, keys.count, scratch.scores);
    modify_scores<Isa, 1>(steps, panel, keys, scratch.scores);
    pack_scores<Isa>(block.row_count, keys.count, scratch.scores);
  }
  if (mask != MaskEffect::nothing) add_mask<Isa, 1>(scratch, vectors, loaded_mask(block, mask));
  if (visible.in_part()) {
    const LaneLimits<Isa, 1> limits(block.rows, block.row_count, keys.first, keys.count, key_step);
    hide_scores(limits, (visible.all_first + key_step - 1) / key_step, visible.all_end / key_step,
                vectors, scratch.scores, scratch.tile_max);
  }
}

/// The scores of a block by rows and a run of keys, packed, and their maxima in tile_max. The last
/// vector is filled up with keys that weigh nothing; returns how many vectors there are.
template <class Isa, int Vectors>
int make_packed_scores(const AttentionBlock& block, const Panel<Isa>& panel, const KeyBlock& keys,
                       const VisibleKeys<Isa, Vectors>& visible, MaskEffect mask) {
  constexpr int lanes = Isa::lanes;
  const KernelScratch& scratch = block.scratch;
  const int count = keys.count * packed_rows<Isa>(block.row_count),
            vectors = (count + lanes - 1) / lanes;
  row_scores<Isa>(scratch.query, block.row_count, block.dim, keys, block.from_memory,
                  scratch.scores);
  finish_packed_scores(block, panel, keys, visible, mask, vectors);
  for (int i = count; i < vectors * lanes; ++i)
    scratch.scores[i] = -__builtin_inff();
  find_packed_max<Isa>(block.row_count, vectors, scratch.scores, scratch.tile_max);
  return vectors;
}

/// Adds up the sums of the lanes that have scores of the same row.
template <class Isa>
void add_packed_sums(int row_count, float* row_sum) {
  const int rows = packed_rows<Isa>(row_count);
  for (int lane = Isa::lanes - 1; lane >= rows; --lane)
    row_sum[lane - rows] += row_sum[lane];
}

/// output[row] = output · correction + Σ_j weights[j][row] · value[j] for a few rows, each padded
/// to whole vectors, with room for as many sums behind: redo(sums).
template <class Isa, class Redo>
[[gnu::noinline]] void row_output(const float* weights, int row_count, const KeyBlock& keys,
                                  bool from_memory, int value_dim, const float* correction,
                                  float* output, bool hides, Redo&& redo) {
  constexpr int lanes = Isa::lanes;
  const int stride = padded_dim<Isa>(value_dim), weights_stride = packed_rows<Isa>(row_count);
  float* sums = output + row_count * stride;
  const RowsAt value_rows{keys.value, keys.value_stride};
  const RowsAt next_keys = RowsAt{keys.key, keys.key_stride}.from(keys.count);
  fill<Isa>(sums, row_count * stride, 0.0f);
  for_row_tiles<Isa>(
      row_count, keys.count, from_memory,
      [&](auto rows, int r, auto tile, int j, auto twice) __attribute__((always_inline)) {
        row_output_tile<Isa, rows, tile>(
            weights + j * weights_stride + r, weights_stride, value_dim, value_rows.from(j),
            coming_rows<twice>(value_rows, keys.count, next_keys, j), sums + r * stride);
      });
  const auto for_sums = [&](auto&& see) {
    for (int i = 0; i < row_count * stride; i += lanes)
      see(Isa::load(sums + i));
  };
  if (hides && any_not_finite<Isa>(for_sums)) redo(sums);
  for (int r = 0; r < row_count; ++r) {
    const auto factor = Isa::broadcast(correction[r]);
    for (int d = r * stride; d < (r + 1) * stride; d += lanes)
      Isa::store(output + d, Isa::fma(Isa::load(output + d), factor, Isa::load(sums + d)));
  }
}

/// sums[row] = Σ_j weights[j][row] · value[j] over what each row sees, and to the bit what
/// row_output() sums where that is finite: hides(0, j) says which lanes don't see key j.
template <class Isa, class Hides>
void row_sums_skipping(const float* weights, int row_count, const KeyBlock& keys, int value_dim,
                       const Hides& hides, float* sums) {
  constexpr int lanes = Isa::lanes;
  const int stride = padded_dim<Isa>(value_dim), weights_stride = packed_rows<Isa>(row_count);
  fill<Isa>(sums, row_count * stride, 0.0f);
  for (int j = 0; j < keys.count; ++j) {
    alignas(64) float hidden[lanes];
    Isa::store(hidden, Isa::select(hides(0, j), Isa::broadcast(1.0f), Isa::broadcast(0.0f)));
    for (int r = 0; r < row_count; ++r) {
      if (hidden[r] != 0.0f) continue;
      const auto weight = Isa::broadcast(weights[j * weights_stride + r]);
      for_vectors<Isa>(value_dim, [&](int d, auto load) {
        float* target = sums + r * stride + d;
        const auto elements = load(keys.value + j * keys.value_stride);
        Isa::store(target, Isa::fma(elements, weight, Isa::load(target)));
      });
    }
  }
}

/// Writes rows of accumulators, each times its factor.
template <class Isa>
void store_rows(const AttentionBlock& block, const float* factor) {
  const std::int64_t step = block.output_dim_stride;
  for (int r = 0; r < block.row_count; ++r) {
    const float* source = block.scratch.output + r * padded_dim<Isa>(block.value_dim);
    float* target = static_cast<float*>(block.rows[r].output);
    int d = 0;
    if (step == 1) {
      for (; d + Isa::lanes <= block.value_dim; d += Isa::lanes)
        Isa::store(target + d, Isa::mul(Isa::load(source + d), Isa::broadcast(factor[r])));
    }
    for (; d < block.value_dim; ++d)
      target[d * step] = source[d] * factor[r];
  }
}

} // namespace simdattn::kernels
