#pragma once
// Where the keys are cut into chunks: the sums of each chunk, kept until all are there, and joined
// in their order.

#include "kernels/panel.hpp"
#include "kernels/row_products.hpp"
#include "kernels/softmax.hpp"

#include <cstdint>

namespace simdattn::kernels {

/// What one panel keeps of a chunk: for each row the maximum and the sum, rows innermost, then Dv
/// accumulators, with rows innermost or row by row, as they are in scratch.
template <class Isa, class T>
[[gnu::always_inline]] inline T* partial_of(T* partial, const Panel<Isa>& panel, int value_dim) {
  return partial + static_cast<std::int64_t>(panel.first_row) * (value_dim + 2);
}

/// Keeps a panel's sums.
template <class Isa, int Vectors>
void save_partial(const AttentionBlock& block, const Panel<Isa>& panel, float* partial) {
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  const float* output = panel_of(block.scratch.output, panel, block.value_dim);
  float* target = partial_of(partial, panel, block.value_dim);
  const auto keep = [&](const float* numbers, int count) {
    int i = 0;
    for (; i + lanes <= count; i += lanes)
      Isa::store(target + i, Isa::load(numbers + i));
    for (; i < count; ++i)
      target[i] = numbers[i];
    target += count;
  };
  keep(block.scratch.row_max + panel.first_row, panel.row_count);
  keep(block.scratch.row_sum + panel.first_row, panel.row_count);
  if (by_rows<Vectors>(block)) {
    for (int r = 0; r < panel.row_count; ++r)
      keep(output + r * padded_dim<Isa>(block.value_dim), block.value_dim);
  } else {
    for (int d = 0; d < block.value_dim; ++d)
      keep(output + d * width, panel.row_count);
  }
}

/// Adds kept sums to a panel's. Lanes past row_count take zeros.
template <class Isa, int Vectors, Units units>
void join_partial(const AttentionBlock& block, const Panel<Isa>& panel, const float* partial) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  const float* source = partial_of(partial, panel, block.value_dim);
  const int rows = panel.row_count;
  float* row_max = block.scratch.row_max + panel.first_row;
  float* row_sum = block.scratch.row_sum + panel.first_row;
  float* output = panel_of(block.scratch.output, panel, block.value_dim);
  const auto load_kept = [&](int number, int v) {
    const float* kept = source + number * rows + v * lanes;
    const int left = rows - v * lanes;
    return left >= lanes ? Isa::load(kept) : load_part<Isa>(kept, left);
  };
  const auto join = [](float* target, Vector factor, Vector kept, Vector kept_factor) {
    Isa::store(target, Isa::fma(Isa::load(target), factor, Isa::mul(kept, kept_factor)));
  };
  alignas(64) float factor[width], kept_factor[width];
  for (int v = 0; v < Vectors; ++v) {
    const int lane = v * lanes;
    const Vector before = Isa::load(row_max + lane), added = load_kept(0, v);
    const Vector now = Isa::max(before, added), largest = finite_max<Isa>(now);
    const Vector old_factor = weight_of<Isa, units>(before, largest);
    const Vector new_factor = weight_of<Isa, units>(added, largest);
    Isa::store(row_max + lane, now);
    join(row_sum + lane, old_factor, load_kept(1, v), new_factor);
    Isa::store(factor + lane, old_factor);
    Isa::store(kept_factor + lane, new_factor);
    if (by_rows<Vectors>(block)) continue;
    for (int d = 0; d < block.value_dim; ++d)
      join(output + d * width + lane, old_factor, load_kept(2 + d, v), new_factor);
  }
  if (!by_rows<Vectors>(block)) return;
  for (int r = 0; r < rows; ++r) {
    const float* kept = source + 2 * rows + r * block.value_dim;
    for_vectors<Isa>(block.value_dim, [&](int d, auto load) {
      join(output + r * padded_dim<Isa>(block.value_dim) + d, Isa::broadcast(factor[r]), load(kept),
           Isa::broadcast(kept_factor[r]));
    });
  }
}

} // namespace simdattn::kernels
