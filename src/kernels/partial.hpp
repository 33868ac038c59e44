#pragma once
// Where the keys are cut into chunks: the sums of each chunk, kept until all are there, and joined
// in their order.

#include "kernels/panel.hpp"
#include "kernels/softmax.hpp"

#include <cstdint>

namespace simdattn::kernels {

/// What one panel keeps of a chunk: for each row the maximum, the sum and Dv accumulators, rows
/// innermost.
template <class Isa>
[[gnu::always_inline]] inline float* partial_of(float* partial, const Panel<Isa>& panel,
                                                int value_dim) {
  return partial + static_cast<std::int64_t>(panel.first_row) * (value_dim + 2);
}

/// Keeps a panel's sums.
template <class Isa, int Vectors>
void save_partial(const AttentionBlock& block, const Panel<Isa>& panel, float* partial) {
  constexpr int width = Vectors * Isa::lanes;
  const float* output = panel_of(block.scratch.output, panel, block.value_dim);
  float* target = partial_of(partial, panel, block.value_dim);
  const auto keep = [&](const float* rows) {
    for (int r = 0; r < panel.row_count; ++r)
      *target++ = rows[r];
  };
  keep(block.scratch.row_max + panel.first_row);
  keep(block.scratch.row_sum + panel.first_row);
  for (int d = 0; d < block.value_dim; ++d)
    keep(output + d * width);
}

/// Adds kept sums to a panel's. Lanes past row_count repeat the last row.
template <class Isa, int Vectors, Units units>
void join_partial(const AttentionBlock& block, const Panel<Isa>& panel, float* partial) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  const float* source = partial_of(partial, panel, block.value_dim);
  const int rows = panel.row_count;
  float* row_max = block.scratch.row_max + panel.first_row;
  float* row_sum = block.scratch.row_sum + panel.first_row;
  float* output = panel_of(block.scratch.output, panel, block.value_dim);
  const auto load_kept = [&](int number, int v) {
    const float* kept = source + number * rows;
    if (v * lanes + lanes <= rows) return Isa::load(kept + v * lanes);
    alignas(64) float values[lanes];
    for (int lane = 0; lane < lanes; ++lane)
      values[lane] = kept[smaller(v * lanes + lane, rows - 1)];
    return Isa::load(values);
  };
  for (int v = 0; v < Vectors; ++v) {
    const Vector before = Isa::load(row_max + v * lanes), added = load_kept(0, v);
    const Vector now = Isa::max(before, added), largest = finite_max<Isa>(now);
    const Vector old_factor = weight_of<Isa, units>(before, largest);
    const Vector new_factor = weight_of<Isa, units>(added, largest);
    const auto join = [&](float* target, Vector kept) {
      Isa::store(target, Isa::fma(Isa::load(target), old_factor, Isa::mul(kept, new_factor)));
    };
    Isa::store(row_max + v * lanes, now);
    join(row_sum + v * lanes, load_kept(1, v));
    for (int d = 0; d < block.value_dim; ++d)
      join(output + d * width + v * lanes, load_kept(2 + d, v));
  }
}

} // namespace simdattn::kernels
