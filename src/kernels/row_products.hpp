#pragma once
// The two products for a few query rows, where most lanes of a panel would idle: vectors run along
// D and Dv instead, each key and value is read once, row by row, and the results land where the
// panel's would, so that everything between and after is the same.

#include "kernels/panel.hpp"

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

/// Products of one key with Rows queries, to scores[row]. Several sums for each row hide the
/// latency of an FMA.
template <class Isa, int Rows>
[[gnu::always_inline]] inline void row_scores_of_key(const float* query, int dim, const float* key,
                                                     float* scores) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, sums = Rows >= 4 ? 1 : 4 / Rows;
  const int stride = padded_dim<Isa>(dim);
  Vector sum[Rows][sums];
  unroll<Rows>([&](auto r) __attribute__((always_inline)) {
    unroll<sums>([&](auto s) __attribute__((always_inline)) { sum[r][s] = Isa::broadcast(0.0f); });
  });
  const auto add = [&](auto s, int d, Vector elements) __attribute__((always_inline)) {
    unroll<Rows>([&](auto r) __attribute__((always_inline)) {
      sum[r][s] = Isa::fma(elements, Isa::load(query + r * stride + d), sum[r][s]);
    });
  };
  int d = 0;
  for (; d + sums * lanes <= dim; d += sums * lanes) {
    unroll<sums>([&](auto s) __attribute__((always_inline)) {
      add(s, d + s * lanes, Isa::load(key + d + s * lanes));
    });
  }
  for (; d + lanes <= dim; d += lanes)
    add(Index<0>{}, d, Isa::load(key + d));
  if (d < dim) add(Index<0>{}, d, load_part<Isa>(key + d, dim - d));
  unroll<Rows>([&](auto r) __attribute__((always_inline)) {
    unroll<sums - 1>([&](auto s) __attribute__((always_inline)) {
      sum[r][0] = Isa::add(sum[r][0], sum[r][s + 1]);
    });
    scores[r] = Isa::sum(sum[r][0]);
  });
}

/// How far ahead of the key in use keys are asked for.
inline constexpr std::int64_t prefetch_bytes = 4096;

/// panel_scores for a few rows: the same scores and maxima. Values of the block are asked for on
/// the way, so that memory sees two plain sequences.
template <class Isa>
[[gnu::noinline]] void row_scores(const float* query, int row_count, int dim, int value_dim,
                                  const KeyBlock& keys, float* scores, float* tile_max) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes;
  Vector largest = Isa::broadcast(-__builtin_inff());
  for (int j = 0; j < keys.count; ++j) {
    const float* key = keys.key + j * keys.key_stride;
    const float* value = keys.value == nullptr ? nullptr : keys.value + j * keys.value_stride;
    ask_for<3>(key, dim, prefetch_bytes);
    if (value != nullptr) ask_for<2>(value, value_dim);
    alignas(64) float products[lanes];
    for_tiles<4>(
        row_count, [&](auto rows, int r) __attribute__((always_inline)) {
          row_scores_of_key<Isa, rows>(query + r * padded_dim<Isa>(dim), dim, key, products + r);
        });
    for (int r = row_count; r < lanes; ++r)
      products[r] = products[row_count - 1];
    const Vector score = Isa::load(products);
    Isa::store(scores + j * lanes, score);
    largest = Isa::max(largest, score);
  }
  Isa::store(tile_max, largest);
}

/// output[d][row] = output · correction + Σ_j value[j][d] · weights[j][row] for Rows rows and
/// Columns vectors of dims, the last of them with `rest` elements (0: whole). `only_finite` and
/// what is returned are as for output_tile().
template <class Isa, int Rows, int Columns>
[[gnu::noinline]] bool row_output_tile(const float* weights, const KeyBlock& keys, int dim,
                                       int rest, const float* correction, bool only_finite,
                                       float* output) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes;
  Vector sum[Rows][Columns];
  unroll<Rows>([&](auto r) __attribute__((always_inline)) {
    unroll<Columns>([&](auto c)
                        __attribute__((always_inline)) { sum[r][c] = Isa::broadcast(0.0f); });
  });
  const float* value = keys.value + dim;
  for (int j = 0; j < keys.count; ++j, value += keys.value_stride, weights += lanes) {
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
                const float* correction, float* output, bool hides, Redo&& redo) {
  constexpr int lanes = Isa::lanes;
  for_tiles<4>(row_count, [&](auto rows, int r) {
    const auto run = [&](auto columns, int vector, int rest) {
      const bool written = row_output_tile<Isa, rows, columns>(
          weights + r, keys, vector * lanes, rest, correction + r, hides, output + r);
      if (!written) redo(vector * lanes, rest != 0 ? rest : columns * lanes, r, r + rows);
    };
    for_tiles<Isa::row_columns(rows)>(value_dim / lanes,
                                      [&](auto columns, int vector) { run(columns, vector, 0); });
    if (value_dim % lanes != 0) run(Index<1>{}, value_dim / lanes, value_dim % lanes);
  });
}

} // namespace simdattn::kernels
