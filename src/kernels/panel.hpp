#pragma once
// The two products of one panel with one block of keys, out of register tiles.

#include "kernels/register_tiles.hpp"
#include "kernels/transpose.hpp"
#include "kernels/visibility.hpp"

#include <cstdint>

namespace simdattn::kernels {

/// A few keys and values whose elements lie side by side, ready for the register tiles.
struct KeyBlock {
  const float* key;
  const float* value;
  std::int64_t key_stride;
  std::int64_t value_stride;
  std::int64_t first; ///< position of its first key
  int count;

  [[gnu::always_inline]] KeyBlock part(std::int64_t from, std::int64_t end) const {
    const std::int64_t skipped = from - first;
    return {
        key + skipped * key_stride,  value + skipped * value_stride, key_stride, value_stride, from,
        static_cast<int>(end - from)};
  }
};

/// Where one panel's part of a scratch array with `elements` values a row begins.
template <class Isa>
[[gnu::always_inline]] inline float* panel_of(float* scratch, const Panel<Isa>& panel,
                                              int elements) {
  return scratch + static_cast<std::int64_t>(panel.first_row) * elements;
}

/// Calls body(Index<vectors>).
template <class Isa, class Body, int Vectors = Isa::tiles.panel_rows / Isa::lanes>
[[gnu::always_inline]] inline void with_vectors(int vectors, Body&& body) {
  if constexpr (Vectors > 1) {
    if (vectors < Vectors)
      return with_vectors<Isa, Body, Vectors - 1>(vectors, static_cast<Body&&>(body));
  }
  body(Index<Vectors>{});
}

/// Transposes a panel's queries into scratch, multiplied by `scale`.
template <class Isa, int Vectors>
void load_queries(const AttentionBlock& block, const Panel<Isa>& panel, float scale) {
  const QueryRow* rows = block.rows + panel.first_row;
  const auto factor = Isa::broadcast(scale);
  load_transposed<Isa, Vectors, float>(
      [&](int r) { return static_cast<const float*>(rows[r].query); }, panel.row_count,
      block.query_dim_stride, block.dim, [&](auto elements) { return Isa::mul(elements, factor); },
      panel_of(block.scratch.query, panel, block.dim));
}

/// Asks for a row that lies `ahead` bytes behind `row`; Locality as of the builtin.
template <int Locality>
[[gnu::always_inline]] inline void ask_for(const float* row, int elements, std::int64_t ahead = 0) {
  const char* first = reinterpret_cast<const char*>(row) + ahead;
  for (int byte = 0; byte < elements * 4; byte += 64)
    __builtin_prefetch(first + byte, 0, Locality);
}

/// Asks for the keys that come two tiles after keys [k, k + count), and for the values of these.
template <class Isa>
[[gnu::always_inline]] inline void ask_for_tile(const KeyBlock& keys, int k, int count, int dim,
                                                int value_dim) {
  for (int j = k; j < k + count; ++j) {
    ask_for<3>(keys.key + (j + 2 * count) * keys.key_stride, dim);
    if (keys.value != nullptr) ask_for<2>(keys.value + j * keys.value_stride, value_dim);
  }
}

/// scores = K · query for every key of the block, and their maximum in each row. Where one panel
/// `alone` reads the block it comes from memory, and is asked for in two plain sequences.
template <class Isa, int Vectors>
void panel_scores(const float* query, int dim, int value_dim, const KeyBlock& keys, bool alone,
                  float* scores, float* tile_max) {
  constexpr int width = Vectors * Isa::lanes;
  for (int lane = 0; lane < width; ++lane)
    tile_max[lane] = -__builtin_inff();
  for_tiles<Isa::score_keys(Vectors)>(keys.count, [&](auto tile, int k) {
    if (alone) ask_for_tile<Isa>(keys, k, tile, dim, value_dim);
    score_tile<Isa, Vectors, tile>(query, dim, keys.key + k * keys.key_stride, keys.key_stride,
                                   scores + k * width, tile_max);
  });
}

/// output = output · correction + Vᵀ · weights.
template <class Isa, int Vectors>
void panel_output(const float* weights, const KeyBlock& keys, int value_dim,
                  const float* correction, float* output) {
  constexpr int width = Vectors * Isa::lanes;
  for_tiles<Isa::output_dims(Vectors)>(value_dim, [&](auto tile, int d) {
    output_tile<Isa, Vectors, tile>(weights, keys.count, keys.value + d, keys.value_stride,
                                    correction, output + d * width);
  });
}

/// The same where a value that some row does not see is infinite or NaN: such a row skips it, since
/// 0 · ∞ is NaN. Sums in the same order, so that finite results are the same to the bit. hides(v,
/// j) says which lanes don't see key j.
template <class Isa, int Vectors, class Hides>
void panel_output_skipping(const float* weights, const KeyBlock& keys, int value_dim,
                           const float* correction, const Hides& hides, float* output) {
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  for (int d = 0; d < value_dim; ++d) {
    unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
      auto sum = Isa::broadcast(0.0f);
      for (int j = 0; j < keys.count; ++j) {
        const auto value = Isa::broadcast(keys.value[j * keys.value_stride + d]);
        const auto weight = Isa::load(weights + j * width + v * lanes);
        sum = Isa::select(hides(v, j), sum, Isa::fma(value, weight, sum));
      }
      float* target = output + d * width + v * lanes;
      Isa::store(target, Isa::fma(Isa::load(target), Isa::load(correction + v * lanes), sum));
    });
  }
}

} // namespace simdattn::kernels
