#pragma once
// The two products for a few query rows, where most lanes of a panel would idle: vectors run along
// D and Dv instead, and each key and value is read once, row by row.

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

/// body(d, load) for what is left of a row after its whole vectors, load(row) being the elements
/// from d on, zeros behind.
template <class Isa, class Body>
[[gnu::always_inline]] inline void for_rest(int d, int dim, Body&& body) {
  if (d == dim) return;
  body(
      d, [&](const float* row)
             __attribute__((always_inline)) { return load_part<Isa>(row + d, dim - d); });
}

/// The same for all of a row, vector by vector.
template <class Isa, class Body>
[[gnu::always_inline]] inline void for_vectors(int dim, Body&& body) {
  int d = 0;
  for (; d + Isa::lanes <= dim; d += Isa::lanes)
    body(
        d, [&](const float* row) __attribute__((always_inline)) { return Isa::load(row + d); });
  for_rest<Isa>(d, dim, body);
}

/// Copies a block's queries to scratch, row by row, multiplied by `scale`.
template <class Isa>
void load_query_rows(const AttentionBlock& block, float scale) {
  for (int r = 0; r < block.row_count; ++r) {
    const float* query = static_cast<const float*>(block.rows[r].query);
    float* target = block.scratch.query + r * padded_dim<Isa>(block.dim);
    if (block.query_dim_stride == 1) {
      for_vectors<Isa>(block.dim, [&](int d, auto load) {
        Isa::store(target + d, Isa::mul(load(query), Isa::broadcast(scale)));
      });
      continue;
    }
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

/// totals[i] = the sum of vector i's elements, with room for whole vectors: `lanes` of them are
/// summed at once, after they are transposed unless there is something better.
template <class Isa, int Count>
[[gnu::always_inline]] inline void sum_each(const typename Isa::Vector* vectors, float* totals) {
  constexpr int lanes = Isa::lanes;
  unroll<(Count + lanes - 1) / lanes>([&](auto part) __attribute__((always_inline)) {
    typename Isa::Vector square[lanes];
    unroll<lanes>([&](auto i) __attribute__((always_inline)) {
      constexpr int index = decltype(part)::value * lanes + decltype(i)::value;
      square[i] = index < Count ? vectors[index < Count ? index : 0] : Isa::broadcast(0.0f);
    });
    if constexpr (requires { Isa::sums(square); }) {
      Isa::store(totals + part * lanes, Isa::sums(square));
    } else {
      Isa::transpose(square);
      Isa::store(totals + part * lanes, add_all<Isa, lanes>(square));
    }
  });
}

/// body(d, load) for every vector of Rows rows that are read side by side, load(row) being its
/// elements from d on. As many elements of coming rows are asked for meanwhile, one row after
/// another, as are read.
template <class Isa, int Rows, bool Twice, class Body>
[[gnu::always_inline]] inline void along_rows(int dim, ComingRows<Twice> coming, Body&& body) {
  constexpr int lanes = Isa::lanes;
  int d = 0;
  for (int row = 0; row < Rows; ++row) {
    const float* next = coming.rows.row(row);
    const float* again = nullptr;
    if constexpr (Twice) again = coming.again.row(row);
    for (const int end = dim * (row + 1) / Rows; d + lanes <= end; d += lanes) {
      ask_for<2>(next, Rows * lanes);
      next += Rows * lanes;
      if constexpr (Twice) {
        ask_for<2>(again, Rows * lanes);
        again += Rows * lanes;
      }
      body(
          d, [&](const float* p) __attribute__((always_inline)) { return Isa::load(p + d); });
    }
  }
  for_rest<Isa>(d, dim, body);
}

/// How many keys or values are read side by side for so many query rows: one for one row, when
/// memory is what limits and is fastest as one plain sequence; and the more rows, the more, to load
/// each query, and load and store each sum, for several of them.
template <class Isa>
constexpr int rows_abreast(int query_rows) {
  return query_rows > 2 ? Isa::row_tile_sums / query_rows : query_rows;
}

/// sum[k · Rows + row] = the vector of sums that key k · query row is made of, for Rows rows and
/// Keys keys.
template <class Isa, int Rows, int Keys, bool Twice>
[[gnu::always_inline]] inline void row_dots(const float* query, int dim, RowsAt keys,
                                            ComingRows<Twice> coming, typename Isa::Vector* sum) {
  using Vector = typename Isa::Vector;
  const int query_stride = padded_dim<Isa>(dim);
  unroll<Keys * Rows>([&](auto i)
                          __attribute__((always_inline)) { sum[i] = Isa::broadcast(0.0f); });
  along_rows<Isa, Keys>(
      dim, coming, [&](int d, auto load) __attribute__((always_inline)) {
        Vector elements[Keys];
        unroll<Keys>([&](auto k)
                         __attribute__((always_inline)) { elements[k] = load(keys.row(k)); });
        unroll<Rows>([&](auto r) __attribute__((always_inline)) {
          const Vector row = Isa::load(query + r * query_stride + d);
          unroll<Keys>([&](auto k) __attribute__((always_inline)) {
            Vector& total = sum[k * Rows + r];
            total = Isa::fma(elements[k], row, total);
          });
        });
      });
}

/// How many keys a tile of so many rows takes: enough to fill a vector with sums.
template <class Isa>
constexpr int keys_at_once(int rows) {
  return larger(rows_abreast<Isa>(rows), larger(Isa::lanes, 8) / rows);
}

/// scores[k][row] = key k · query row, for Rows rows and Keys keys, whose scores are scores_stride
/// apart.
template <class Isa, int Rows, int Keys, bool Twice>
[[gnu::noinline]] void row_score_tile(const float* query, int dim, RowsAt keys,
                                      ComingRows<Twice> coming, int scores_stride, float* scores) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, count = Keys * Rows,
                abreast = smaller(Keys, rows_abreast<Isa>(Rows));
  Vector sum[count];
  unroll<Keys / abreast>([&](auto i) __attribute__((always_inline)) {
    row_dots<Isa, Rows, abreast>(query, dim, keys.from(i * abreast), coming.from(i * abreast),
                                 sum + i * abreast * Rows);
  });
  alignas(64) float totals[(count + lanes - 1) / lanes * lanes];
  sum_each<Isa, count>(sum, totals);
  unroll<Keys>([&](auto k) __attribute__((always_inline)) {
    __builtin_memcpy(scores + k * scores_stride, totals + k * Rows, Rows * sizeof(float));
  });
}

/// Calls body(Constant<twice>) with whether what comes is to be asked for twice: where it is from
/// memory, and one tile of rows asks for it a whole line at a time. A processor drops some of what
/// is asked for (Zen 4); several tiles, or shorter vectors, ask more than once anyway.
template <class Isa, class Body>
[[gnu::always_inline]] inline void with_asks(bool from_memory, int row_count, Body&& body) {
  if constexpr (Isa::lanes >= line_floats)
    with_flags(from_memory && row_count <= 4, static_cast<Body&&>(body));
  else
    body(Constant<false>{});
}

/// Calls body(Index<rows>, row, Index<keys>, key, Constant<twice>) for tiles of rows and keys of a
/// block, a few keys with all rows before the next, so that memory sees one plain sequence.
template <class Isa, class Body>
[[gnu::always_inline]] inline void for_row_tiles(int row_count, int key_count, bool from_memory,
                                                 Body&& body) {
  with_asks<Isa>(
      from_memory, row_count, [&](auto twice) __attribute__((always_inline)) {
        for_tiles<keys_at_once<Isa>(1)>(
            key_count, [&](auto group, int first) __attribute__((always_inline)) {
              for_tiles<4>(
                  row_count, [&](auto rows, int r) __attribute__((always_inline)) {
                    constexpr int tile = smaller<int>(group, keys_at_once<Isa>(rows));
                    for (int j = first; j < first + group; j += tile)
                      body(rows, r, Index<tile>{}, j, twice);
                  });
            });
      });
}

/// How many rows' scores a key has where several keys share a vector: as many as there are rows, or
/// a few more, so that it holds whole keys.
template <class Isa>
[[gnu::always_inline]] inline int packed_rows(int row_count) {
  while (Isa::lanes % row_count != 0)
    ++row_count;
  return row_count;
}

/// The scores of a few rows, packed.
template <class Isa>
[[gnu::noinline]] void row_scores(const float* query, int row_count, int dim, const KeyBlock& keys,
                                  bool from_memory, float* scores) {
  const RowsAt key_rows{keys.key, keys.key_stride}, value_rows{keys.value, keys.value_stride};
  const int stride = packed_rows<Isa>(row_count);
  if (stride != row_count) fill<Isa>(scores, keys.count * stride, 0.0f);
  for_row_tiles<Isa>(
      row_count, keys.count, from_memory,
      [&](auto rows, int r, auto tile, int j, auto twice) __attribute__((always_inline)) {
        row_score_tile<Isa, rows, tile>(query + r * padded_dim<Isa>(dim), dim, key_rows.from(j),
                                        coming_rows<twice>(key_rows, keys.count, value_rows, j),
                                        stride, scores + j * stride + r);
      });
}

/// sums[row][d] += Σ_k value[k][d] · weights[k][row] for Rows rows and Keys keys, whose weights are
/// weights_stride apart. The sums are in memory, so that a value is read whole, however long: half
/// of each at a time would be two broken sequences.
template <class Isa, int Rows, int Keys, bool Twice>
[[gnu::noinline]] void row_output_tile(const float* weights, int weights_stride, int value_dim,
                                       RowsAt values, ComingRows<Twice> coming, float* sums) {
  using Vector = typename Isa::Vector;
  constexpr int abreast = smaller(Keys, rows_abreast<Isa>(Rows));
  const int sums_stride = padded_dim<Isa>(value_dim);
  for (int j = 0; j < Keys; j += abreast) {
    Vector weight[abreast * Rows];
    unroll<abreast * Rows>([&](auto i) __attribute__((always_inline)) {
      weight[i] = Isa::broadcast(weights[(j + i / Rows) * weights_stride + i % Rows]);
    });
    along_rows<Isa, abreast>(
        value_dim, coming.from(j), [&](int d, auto load) __attribute__((always_inline)) {
          Vector elements[abreast];
          unroll<abreast>([&](auto k) __attribute__((always_inline)) {
            elements[k] = load(values.row(j + k));
          });
          unroll<Rows>([&](auto r) __attribute__((always_inline)) {
            float* target = sums + r * sums_stride + d;
            Vector sum = Isa::load(target);
            unroll<abreast>([&](auto k) __attribute__((always_inline)) {
              sum = Isa::fma(elements[k], weight[k * Rows + r], sum);
            });
            Isa::store(target, sum);
          });
        });
  }
}

} // namespace simdattn::kernels
