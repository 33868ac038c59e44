#pragma once
// The outputs of a few query rows, in scratch row by row, each padded to whole vectors.

#include "kernels/row_products.hpp"

#include <cstdint>

namespace simdattn::kernels {

/// Writes zeros to whole vectors.
template <class Isa>
[[gnu::always_inline]] inline void clear(float* numbers, int count) {
  for (int i = 0; i < count; i += Isa::lanes)
    Isa::store(numbers + i, Isa::broadcast(0.0f));
}

/// output[row] = output · correction + Σ_j weights[j][row] · value[j] for a few rows, each padded
/// to whole vectors, with room for as many sums behind: redo(sums).
template <class Isa, class Redo>
[[gnu::noinline]] void row_output(const float* weights, int row_count, const KeyBlock& keys,
                                  bool from_memory, int value_dim, const float* correction,
                                  float* output, bool hides, Redo&& redo) {
  constexpr int lanes = Isa::lanes;
  const int stride = padded_dim<Isa>(value_dim);
  float* sums = output + row_count * stride;
  const RowsAt value_rows{keys.value, keys.value_stride};
  const RowsAt next_keys = RowsAt{keys.key, keys.key_stride}.from(keys.count);
  clear<Isa>(sums, row_count * stride);
  for_row_tiles<Isa>(
      row_count, keys.count, from_memory,
      [&](auto rows, int r, auto tile, int j, auto twice) __attribute__((always_inline)) {
        row_output_tile<Isa, rows, tile>(weights + j * lanes + r, value_dim, value_rows.from(j),
                                         coming_rows<twice>(value_rows, keys.count, next_keys, j),
                                         sums + r * stride);
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
  const int stride = padded_dim<Isa>(value_dim);
  clear<Isa>(sums, row_count * stride);
  for (int j = 0; j < keys.count; ++j) {
    alignas(64) float hidden[lanes];
    Isa::store(hidden, Isa::select(hides(0, j), Isa::broadcast(1.0f), Isa::broadcast(0.0f)));
    for (int r = 0; r < row_count; ++r) {
      if (hidden[r] != 0.0f) continue;
      const auto weight = Isa::broadcast(weights[j * lanes + r]);
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
