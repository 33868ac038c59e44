#pragma once
// Between rows as the caller stores them and panels with rows innermost.

#include "kernels/elements.hpp"
#include "kernels/unroll.hpp"

#include <cstdint>

namespace simdattn::kernels {

/// panel[i][r] = row(r)[i · stride], then finish(vector), for i in [0, count) and every lane r of
/// the panel. Lanes past row_count repeat the last row. Asks for what comes `Ahead` elements later,
/// unless that is 0. Returns finish with what it has gathered.
template <class Isa, int Vectors, class T, int Ahead = 0, class RowAt, class Finish>
Finish load_transposed(RowAt row_at, int row_count, std::int64_t stride, int count, Finish finish,
                       float* panel) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  for (int lane = 0; lane < width; lane += lanes) {
    const T* rows[lanes];
    for (int r = 0; r < lanes; ++r)
      rows[r] = row_at(lane + r < row_count ? lane + r : row_count - 1);
    int i = 0;
    if (stride == 1) {
      for (; i + lanes <= count; i += lanes) {
        Vector square[lanes];
        unroll<lanes>([&](auto r) __attribute__((always_inline)) {
          if constexpr (Ahead > 0) __builtin_prefetch(rows[r] + i + Ahead);
          square[r] = load_elements<Isa>(rows[r] + i);
        });
        Isa::transpose(square);
        unroll<lanes>([&](auto r) __attribute__((always_inline)) {
          Isa::store(panel + (i + r) * width + lane, finish(square[r], r));
        });
      }
    }
    for (; i < count; ++i) {
      float* target = panel + i * width + lane;
      for (int r = 0; r < lanes; ++r)
        target[r] = load_element<Isa>(rows[r] + i * stride);
      Isa::store(target, finish(Isa::load(target), Index<0>{}));
    }
  }
  return finish;
}

/// row(r)[i · stride] = panel[i][r] · factor[r] for i in [0, count) and the lanes r below
/// row_count.
template <class Isa, int Vectors, class RowAt>
void store_transposed(const float* panel, int count, const float* factor, RowAt row_at,
                      int row_count, std::int64_t stride) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  for (int lane = 0; lane < row_count; lane += lanes) {
    const int used = row_count - lane < lanes ? row_count - lane : lanes;
    const Vector factors = Isa::load(factor + lane);
    float* rows[lanes];
    for (int r = 0; r < used; ++r)
      rows[r] = row_at(lane + r);
    const auto load_square = [&](Vector(&square)[lanes], int i, int columns)
        __attribute__((always_inline)) {
      unroll<lanes>([&](auto r) __attribute__((always_inline)) {
        square[r] = Isa::broadcast(0.0f);
        if (r < columns) square[r] = Isa::mul(Isa::load(panel + (i + r) * width + lane), factors);
      });
      Isa::transpose(square);
    };
    Vector square[lanes];
    int i = 0;
    if (stride == 1) {
      with_flags(
          used == lanes, [&](auto whole) __attribute__((always_inline)) {
            for (; i + lanes <= count; i += lanes) {
              load_square(square, i, lanes);
              unroll<lanes>([&](auto r) __attribute__((always_inline)) {
                if (whole || r < used) Isa::store(rows[r] + i, square[r]);
              });
            }
          });
    }
    for (; i < count; i += lanes) {
      const int columns = count - i < lanes ? count - i : lanes;
      load_square(square, i, columns);
      alignas(64) float values[lanes][lanes];
      unroll<lanes>([&](auto r)
                        __attribute__((always_inline)) { Isa::store(values[r], square[r]); });
      for (int r = 0; r < used; ++r) {
        for (int c = 0; c < columns; ++c)
          rows[r][(i + c) * stride] = values[r][c];
      }
    }
  }
}

} // namespace simdattn::kernels
