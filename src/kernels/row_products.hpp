#pragma once
// The two products for a few query rows, where most lanes of a panel would idle: vectors run along
// D and Dv instead, each key and value is read once, row by row, and the results land where the
// panel's would, so that everything between and after is the same.

#include "kernels/ahead.hpp"
#include "kernels/panel.hpp"
#include "kernels/softmax.hpp"

#include <cstdint>

namespace simdattn::kernels {

/// The first `count` elements (fewer than a vector's), zeros behind.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector load_part(const float* p, int count) {
  if constexpr (requires { Isa::load_first(p, count); }) {
    return Isa::load_first(p, count);
  } else {
    alignas(64) float values[Isa::lanes] = {};
    for (int i = 0; i < count; ++i)
      values[i] = p[i];
    return Isa::load(values);
  }
}

/// D rounded up to whole vectors: what a row of queries takes in scratch, zeros behind.
template <class Isa>
[[gnu::always_inline]] constexpr int padded_dim(int dim) {
  return (dim + Isa::lanes - 1) / Isa::lanes * Isa::lanes;
}

/// Copies a block's queries to scratch, row by row, multiplied by `scale`.
template <class Isa>
void load_query_rows(const AttentionBlock& block, float scale) {
  for (int r = 0; r < block.row_count; ++r) {
    const float* query = static_cast<const float*>(block.rows[r].query);
    float* target = block.scratch.query + r * padded_dim<Isa>(block.dim);
    for (int d = 0; d < padded_dim<Isa>(block.dim); ++d) {
      target[d] = d < block.dim ? query[d * block.query_dim_stride] * scale : 0.0f;
    }
  }
}

/// The sum of Count vectors, element by element.
template <class Isa, int Count>
[[gnu::always_inline]] inline typename Isa::Vector add_all(typename Isa::Vector* vectors) {
  if constexpr (Count == 1) {
    return vectors[0];
  } else {
    unroll<Count / 2>([&](auto i) __attribute__((always_inline)) {
      vectors[i] = Isa::add(vectors[i], vectors[Count - 1 - i]);
    });
    return add_all<Isa, (Count + 1) / 2>(vectors);
  }
}

/// totals[i] = the sum of vector i's elements, with room for whole vectors: transposed, so that
/// `lanes` of them are summed at once.
template <class Isa, int Count>
[[gnu::always_inline]] inline void sum_each(const typename Isa::Vector* vectors, float* totals) {
  constexpr int lanes = Isa::lanes;
  unroll<(Count + lanes - 1) / lanes>([&](auto part) __attribute__((always_inline)) {
    typename Isa::Vector square[lanes];
    unroll<lanes>([&](auto i) __attribute__((always_inline)) {
      constexpr int index = decltype(part)::value * lanes + decltype(i)::value;
      square[i] = index < Count ? vectors[index < Count ? index : 0] : Isa::broadcast(0.0f);
    });
    Isa::transpose(square);
    Isa::store(totals + part * lanes, add_all<Isa, lanes>(square));
  });
}

/// How many keys a tile of so many rows takes: enough to hide the latency of an FMA and to fill a
/// vector with sums, but no more than 4, since memory is best read row by row.
template <class Isa>
constexpr int keys_at_once(int rows) {
  return smaller(4, larger(Isa::lanes, 8) / rows);
}

/// How many keys ahead of those in use keys are asked for.
inline constexpr int near_keys = 8;

/// scores[k][row] = key k · query row, for Rows rows and Keys keys of a block from number `first`
/// on. Asks for keys to come and for the values of these, if `asks`.
template <class Isa, int Rows, int Keys>
[[gnu::noinline]] void row_score_tile(const float* query, int dim, int value_dim,
                                      const KeyBlock& keys, int first, bool asks, float* scores) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, count = Keys * Rows;
  const int query_stride = padded_dim<Isa>(dim);
  const std::int64_t key_stride = keys.key_stride;
  const float* key = keys.key + first * key_stride;
  Vector sum[count];
  unroll<count>([&](auto i) __attribute__((always_inline)) { sum[i] = Isa::broadcast(0.0f); });
  const auto add = [&](int d, auto load_keys) __attribute__((always_inline)) {
    Vector elements[Keys];
    unroll<Keys>([&](auto k) __attribute__((always_inline)) {
      elements[k] = load_keys(key + k * key_stride + d);
    });
    unroll<Rows>([&](auto r) __attribute__((always_inline)) {
      const Vector row = Isa::load(query + r * query_stride + d);
      unroll<Keys>([&](auto k) __attribute__((always_inline)) {
        Vector& total = sum[k * Rows + r];
        total = Isa::fma(elements[k], row, total);
      });
    });
  };
  int d = 0;
  const auto whole = [](const float* p) __attribute__((always_inline)) { return Isa::load(p); };
  const auto rest = [&](const float* p) __attribute__((always_inline)) {
    return load_part<Isa>(p, dim - d);
  };
  for (int k = 0; k < Keys; ++k) { // spread over the tile
    if (asks) {
      ask_for<3>(key + (k + near_keys) * key_stride, dim);
      if (keys.value != nullptr)
        ask_for<2>(keys.value + (first + k) * keys.value_stride, value_dim);
    }
    for (const int end = dim * (k + 1) / Keys; d + lanes <= end; d += lanes)
      add(d, whole);
  }
  if (d < dim) add(d, rest);
  alignas(64) float totals[(count + lanes - 1) / lanes * lanes];
  sum_each<Isa, count>(sum, totals);
  unroll<Keys>([&](auto k) __attribute__((always_inline)) {
    __builtin_memcpy(scores + k * lanes, totals + k * Rows, Rows * sizeof(float));
  });
}

/// panel_scores for a few rows: the same scores and maxima. Values of the block are asked for on
/// the way, so that memory sees two plain sequences.
template <class Isa>
[[gnu::noinline]] void row_scores(const float* query, int row_count, int dim, int value_dim,
                                  const KeyBlock& keys, float* scores, float* tile_max) {
  constexpr int lanes = Isa::lanes;
  for_tiles<keys_at_once<Isa>(1)>(
      keys.count, [&](auto group, int first) __attribute__((always_inline)) {
        for (int j = first; j < first + group; ++j)
          Isa::store(scores + j * lanes, Isa::broadcast(0.0f)); // the lanes past row_count
        for_tiles<4>(
            row_count, [&](auto rows, int r) __attribute__((always_inline)) {
              constexpr int tile = smaller<int>(group, keys_at_once<Isa>(rows));
              for (int j = first; j < first + group; j += tile) {
                row_score_tile<Isa, rows, tile>(query + r * padded_dim<Isa>(dim), dim, value_dim,
                                                keys, j, r == 0, scores + j * lanes + r);
              }
            });
      });
  find_max<Isa, 1>(scores, keys.count, tile_max);
}

/// output[d][row] = output · correction + Σ_j value[j][d] · weights[j][row] for Rows rows and
/// Columns vectors of dims, the last of them with `rest` elements (0: whole). `only_finite` and
/// what is returned are as for output_tile(). As many elements of rows ahead are asked for as there
/// are in these values.
template <class Isa, int Rows, int Columns>
[[gnu::noinline]] bool row_output_tile(const float* weights, const KeyBlock& keys, int dim,
                                       int rest, const float* correction, bool only_finite,
                                       RowsAhead* rows_ahead, float* output) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes;
  Vector sum[Rows][Columns];
  unroll<Rows>([&](auto r) __attribute__((always_inline)) {
    unroll<Columns>([&](auto c)
                        __attribute__((always_inline)) { sum[r][c] = Isa::broadcast(0.0f); });
  });
  RowsAhead ahead = *rows_ahead;
  const float* value = keys.value + dim;
  for (int j = 0; j < keys.count; ++j, value += keys.value_stride, weights += lanes) {
    if (ahead.next != nullptr) ahead.ask<Columns * lanes>();
    Vector elements[Columns];
    unroll<Columns>([&](auto c) __attribute__((always_inline)) {
      elements[c] = rest != 0 && c == Columns - 1 ? load_part<Isa>(value + c * lanes, rest)
                                                  : Isa::load(value + c * lanes);
    });
    unroll<Rows>([&](auto r) __attribute__((always_inline)) {
      const Vector weight = Isa::broadcast(weights[r]);
      unroll<Columns>([&](auto c) __attribute__((always_inline)) {
        sum[r][c] = Isa::fma(elements[c], weight, sum[r][c]);
      });
    });
  }
  *rows_ahead = ahead;
  if (only_finite && any_not_finite<Isa>(sum)) return false;
  const int count = Columns * lanes - (rest != 0 ? lanes - rest : 0);
  unroll<Rows>([&](auto r) __attribute__((always_inline)) {
    alignas(64) float values[Columns * lanes];
    unroll<Columns>([&](auto c) __attribute__((always_inline)) {
      Isa::store(values + c * lanes, sum[r][c]);
    });
    for (int d = 0; d < count; ++d) {
      float* target = output + (dim + d) * lanes + r;
      *target = *target * correction[r] + values[d];
    }
  });
  return true;
}

/// panel_output for a few rows: redo(first_dim, dims, first_row, end_row).
template <class Isa, class Redo>
void row_output(const float* weights, int row_count, const KeyBlock& keys, int value_dim,
                const float* correction, float* output, bool hides, RowsAhead ahead, Redo&& redo) {
  constexpr int lanes = Isa::lanes;
  RowsAhead nothing; // the first rows have asked for all
  for_tiles<4>(row_count, [&](auto rows, int r) {
    const auto run = [&](auto columns, int vector, int rest) {
      const int dim = vector * lanes;
      const bool written =
          row_output_tile<Isa, rows, columns>(weights + r, keys, dim, rest, correction + r, hides,
                                              r == 0 ? &ahead : &nothing, output + r);
      if (!written) redo(dim, rest != 0 ? rest : columns * lanes, r, r + rows);
    };
    for_tiles<Isa::row_columns(rows)>(value_dim / lanes,
                                      [&](auto columns, int vector) { run(columns, vector, 0); });
    if (value_dim % lanes != 0) run(Index<1>{}, value_dim / lanes, value_dim % lanes);
  });
}

} // namespace simdattn::kernels
