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
  int segment; ///< of the AttentionBlock

  [[gnu::always_inline]] KeyBlock part(std::int64_t from, std::int64_t end) const {
    KeyBlock part = *this;
    part.key += (from - first) * key_stride;
    part.value += (from - first) * value_stride;
    part.first = from;
    part.count = static_cast<int>(end - from);
    return part;
  }

  /// The same keys in another head, where none are gathered.
  [[gnu::always_inline]] KeyBlock in_head(const AttentionBlock& mine,
                                          const AttentionBlock& other) const {
    const KeySegment &from = mine.segments[segment], &to = other.segments[segment];
    KeyBlock block = *this;
    block.key = static_cast<const float*>(to.key) + (key - static_cast<const float*>(from.key));
    block.value =
        static_cast<const float*>(to.value) + (value - static_cast<const float*>(from.value));
    return block;
  }
};

/// Where one panel's part of a scratch array with `elements` values a row begins.
template <class Isa>
[[gnu::always_inline]] inline float* panel_of(float* scratch, const Panel<Isa>& panel,
                                              int elements) {
  return scratch + static_cast<std::int64_t>(panel.first_row) * elements;
}

/// Writes one number to whole vectors.
template <class Isa>
[[gnu::always_inline]] inline void fill(float* numbers, int count, float number) {
  for (int i = 0; i < count; i += Isa::lanes)
    Isa::store(numbers + i, Isa::broadcast(number));
}

/// Whether a panel of so many vectors is a block by rows.
template <int Vectors>
[[gnu::always_inline]] inline bool by_rows(const AttentionBlock& block) {
  return Vectors == 1 && block.by_rows;
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

/// The panels of a block.
template <class Isa>
struct Panels {
  Panel<Isa> panel[Isa::tiles.row_block / Isa::tiles.panel_rows];
  int count;

  explicit Panels(const AttentionBlock& block) : count(make_panels(block, panel)) {}

  /// body(panel, Index<vectors>) for every panel.
  template <class Body>
  [[gnu::always_inline]] void each(Body&& body) const {
    for (int p = 0; p < count; ++p) {
      with_vectors<Isa>(panel[p].vectors, [&](auto vectors) { body(panel[p], vectors); });
    }
  }
};

/// Transposes a panel's queries into scratch, multiplied by `scale`.
template <class Isa, int Vectors>
void load_queries(const AttentionBlock& block, const Panel<Isa>& panel, float scale) {
  const QueryRow* rows = block.rows + panel.first_row;
  const auto factor = Isa::broadcast(scale);
  load_transposed<Isa, Vectors, float>(
      [&](int r) { return static_cast<const float*>(rows[r].query); }, panel.row_count,
      block.query_dim_stride, block.dim,
      [&](auto elements, auto) { return Isa::mul(elements, factor); },
      panel_of(block.scratch.query, panel, block.dim));
}

/// Keys in one tile of the product for the vectors of a panel from First on. Where vectors stop
/// seeing keys, they mostly do so whole vectors of rows apart: powers of two fit.
template <class Isa, int Vectors, int First>
inline constexpr int tile_keys = First == 0
                                     ? Isa::score_keys(Vectors)
                                     : power_of_two_below(Isa::score_keys(Vectors - First) + 1);

/// scores = K · query + mask for keys [first, end) of a block and the vectors of a panel from First
/// on, and tile_max raised to their maximum in each row; rows ahead are asked for meanwhile.
template <class Isa, int Vectors, int First>
void run_scores(const float* query, int dim, const KeyBlock& keys, int first, int end,
                MaskValues mask, RowsAhead* ahead, float* scores, float* tile_max) {
  constexpr int width = Vectors * Isa::lanes, before = First * Isa::lanes;
  const bool masked = mask.values != nullptr;
  const auto run = [&](auto tile, int from, int stop) {
    const int step = masked ? tile : stop - from;
    for (int k = from; k < stop; k += step) {
      const int at = k * width + before;
      with_flags(masked, ahead->next != nullptr, [&](auto adds, auto asks) {
        // Runs without some vectors are short: they ask for nothing.
        score_tiles<Isa, Vectors - First, Vectors, tile, adds, asks && First == 0>(
            query + before, dim, keys.key + k * keys.key_stride, keys.key_stride, step,
            mask.from(at), ahead, scores + at, tile_max + before);
      });
    }
  };
  for_runs<tile_keys<Isa, Vectors, First>>(end, run, first);
}

/// scores = K · query + mask for what each vector of a panel sees of a block, of any value for what
/// it does not; tile_max[row] = the maximum of the keys that every row sees. Rows ahead are asked
/// for meanwhile.
template <class Isa, int Vectors>
void panel_scores(const float* query, int dim, const KeyBlock& keys,
                  const VisibleKeys<Isa, Vectors>& visible, MaskValues mask, RowsAhead ahead,
                  float* scores, float* tile_max) {
  constexpr int width = Vectors * Isa::lanes;
  alignas(64) float partial_max[width] = {};
  for (int lane = 0; lane < width; ++lane)
    tile_max[lane] = -__builtin_inff();
  const auto run = [&](auto first, int from, int end, float* max) {
    if (from < end)
      run_scores<Isa, Vectors, first>(query, dim, keys, from, end, mask, &ahead, scores, max);
  };
  run(Index<0>{}, 0, visible.all_first, partial_max);
  run(Index<0>{}, visible.all_first, visible.all_end, tile_max);
  int from = visible.all_end;
  unroll<Vectors>([&](auto first) {
    const int end =
        smaller(visible.count,
                from + whole_tiles<tile_keys<Isa, Vectors, first>>(visible.end[first] - from));
    run(first, from, end, partial_max);
    from = larger(from, end);
  });
}

/// output = output · correction + Vᵀ · weights. Where some row does not see some key (`hides`), a
/// sum that isn't finite may hold a value its row does not see, since 0 · ∞ is NaN: those dims are
/// left to redo(first_dim, dims). Rows ahead are asked for meanwhile.
template <class Isa, int Vectors, class Redo>
void panel_output(const float* weights, const KeyBlock& keys,
                  const VisibleKeys<Isa, Vectors>& visible, int value_dim, const float* correction,
                  float* output, bool hides, RowsAhead ahead, Redo&& redo) {
  constexpr int width = Vectors * Isa::lanes;
  for_tiles<Isa::output_dims(Vectors)>(value_dim, [&](auto tile, int d) {
    with_flags(visible.narrows(), ahead.next != nullptr, [&](auto narrows, auto asks) {
      const bool written = output_tile<Isa, Vectors, tile, narrows, asks>(
          weights, visible.end, keys.value + d, keys.value_stride, correction, hides, &ahead,
          output + d * width);
      if (!written) redo(d, tile);
    });
  });
}

/// The same, and to the bit where it is finite, but each lane skips the values of keys it does not
/// see: hides(v, j) says which lanes don't see key j.
template <class Isa, int Vectors, int Dims, class Hides>
void output_skipping(const float* weights, const KeyBlock& keys, int first_dim,
                     const float* correction, const Hides& hides, float* output) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  for (int v = 0; v < Vectors; ++v) {
    Vector sum[Dims];
    unroll<Dims>([&](auto d) __attribute__((always_inline)) { sum[d] = Isa::broadcast(0.0f); });
    for (int j = 0; j < keys.count; ++j) {
      const float* value = keys.value + j * keys.value_stride + first_dim;
      const auto weight = Isa::load(weights + j * width + v * lanes);
      const auto hidden = hides(v, j);
      unroll<Dims>([&](auto d) __attribute__((always_inline)) {
        sum[d] = Isa::select(hidden, sum[d], Isa::fma(Isa::broadcast(value[d]), weight, sum[d]));
      });
    }
    unroll<Dims>([&](auto d) __attribute__((always_inline)) {
      float* target = output + (first_dim + d) * width + v * lanes;
      Isa::store(target, Isa::fma(Isa::load(target), Isa::load(correction + v * lanes), sum[d]));
    });
  }
}

} // namespace simdattn::kernels
