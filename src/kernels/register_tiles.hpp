#pragma once
// The two products, one register tile at a time. Lanes are query rows; a panel is Vectors vectors
// of rows, stored with its rows innermost, so that nothing is ever summed across lanes and K and V
// are read as they lie, one broadcast an element.
//
// Vectors of rows that several products share are pinned in registers, by Isa::kept or by
// Isa::multiply_add: GCC 12 otherwise reads them from memory again in every FMA.

#include "kernels/ahead.hpp"
#include "kernels/unroll.hpp"

#include <cfloat>
#include <cstdint>

namespace simdattn::kernels {

/// A mask as what it adds to each score, in the order of the scores.
struct MaskValues {
  const float* values = nullptr; ///< nullptr: no mask
  bool excludes = false; ///< whether −inf is among them, or what would make a score −inf

  [[gnu::always_inline]] MaskValues from(std::int64_t offset) const {
    return {values == nullptr ? nullptr : values + offset, excludes};
  }
};

/// score + added. Where the mask excludes, the sum of finite numbers stays finite, and −inf
/// excludes whatever the score was.
template <class Isa, bool excludes>
[[gnu::always_inline]] inline typename Isa::Vector masked_score(typename Isa::Vector score,
                                                                typename Isa::Vector added) {
  if constexpr (!excludes) return Isa::add(score, added);
  const auto lowest = Isa::broadcast(-FLT_MAX);
  const auto sum = Isa::max(lowest, Isa::add(score, added));
  const auto absent = Isa::either(Isa::less(added, lowest), Isa::less(score, lowest));
  return Isa::select(absent, Isa::broadcast(-__builtin_inff()), sum);
}

/// Writes a tile of scores, the mask added to them, and raises tile_max to their maximum.
template <class Isa, bool Masked, int Width, int Keys, int Vectors>
[[gnu::always_inline]] inline void write_scores(const typename Isa::Vector (&sum)[Keys][Vectors],
                                                MaskValues mask, float* scores, float* tile_max) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Width * lanes;
  const auto write = [&](auto&& finish) __attribute__((always_inline)) {
    unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
      Vector largest = Isa::load(tile_max + v * lanes);
      unroll<Keys>([&](auto k) __attribute__((always_inline)) {
        constexpr int at = decltype(k)::value * width + decltype(v)::value * lanes;
        const Vector score = finish(sum[k][v], at);
        Isa::store(scores + at, score);
        largest = Isa::max(largest, score);
      });
      Isa::store(tile_max + v * lanes, largest);
    });
  };
  if constexpr (!Masked) {
    write([](Vector score, int) __attribute__((always_inline)) { return score; });
  } else {
    with_flags(
        mask.excludes, [&](auto excludes) __attribute__((always_inline)) {
          write([&](Vector score, int at) __attribute__((always_inline)) {
            return masked_score<Isa, excludes>(score, Isa::load(mask.values + at));
          });
        });
  }
}

/// scores[k][row] = Σ_d key[k][d] · query[d][row] + mask[k][row] for `count` keys, Keys at a time,
/// and tile_max[row] = max(tile_max, scores), for Vectors of a panel's Width vectors. Masked: for
/// Keys keys alone, since GCC 12 would keep the constants that a mask needs in registers meanwhile,
/// and sums in memory. Asks: as many elements of rows ahead are asked for as there are in these
/// keys.
template <class Isa, int Vectors, int Width, int Keys, bool Masked, bool Asks>
[[gnu::noinline]] void score_tiles(const float* query, int dim, const float* key,
                                   std::int64_t key_stride, int count, MaskValues mask,
                                   RowsAhead* rows_ahead, float* scores, float* tile_max) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Width * lanes;
  constexpr Index<Isa::lane_group> group;
  constexpr Constant<true> begins;
  constexpr Constant<false> continues;
  Vector sum[Keys][Vectors];
  const auto add_dims = [&](auto size, auto first, int d) __attribute__((always_inline)) {
    typename Isa::template Group<size> factors[Keys];
    unroll<Keys>([&](auto k) __attribute__((always_inline)) {
      factors[k] = Isa::template load_group<size>(key + k * key_stride + d);
    });
    unroll<size>([&](auto i) __attribute__((always_inline)) {
      Vector rows[Vectors];
      unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
        rows[v] = Isa::kept(Isa::load(query + (d + i) * width + v * lanes));
      });
      unroll<Keys>([&](auto k) __attribute__((always_inline)) {
        const auto factor = Isa::template lane<i>(factors[k]);
        unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
          sum[k][v] = first && i == 0 ? Isa::multiply(factor, rows[v])
                                      : Isa::multiply_add(factor, rows[v], sum[k][v]);
        });
      });
    });
  };
  RowsAhead ahead = Asks ? *rows_ahead : RowsAhead{};
  for (int k = 0; k < (Masked ? Keys : count); k += Keys) {
    if constexpr (Asks) ahead.ask<Keys * group>();
    int d = dim % group;
    if (d == 0) {
      add_dims(group, begins, 0);
      d = group;
    } else {
      add_dims(Index<1>{}, begins, 0);
      for (int i = 1; i < d; ++i)
        add_dims(Index<1>{}, continues, i);
    }
    for (; d < dim; d += group) {
      if constexpr (Asks) ahead.ask<Keys * group>();
      add_dims(group, continues, d);
    }
    write_scores<Isa, Masked, Width>(sum, mask, scores, tile_max);
    key += Keys * key_stride;
    scores += Keys * width;
  }
  if constexpr (Asks) *rows_ahead = ahead;
}

/// Whether some number is infinite or NaN, of all vectors for which for_each(see) calls
/// see(vector).
template <class Isa, class ForEach>
[[gnu::always_inline]] inline bool any_not_finite(ForEach&& for_each) {
  const auto zero = Isa::broadcast(0.0f);
  auto zeros = zero;
  for_each([&](typename Isa::Vector numbers) __attribute__((always_inline)) {
    zeros = Isa::fma(numbers, zero, zeros); // NaN from ±∞ · 0
  });
  return Isa::any(Isa::is_nan(zeros));
}

/// output[d][row] = output · correction[row] + Σ_j value[j][d] · weights[j][row] for Dims dims, for
/// vectors 0 … v over keys [0, end[v]). The sum over the key block starts from zero, so that
/// rounding grows with the block and not with the sequence. Where `only_finite`, a sum that isn't
/// finite leaves output as it was; returns whether it was written. Asks: as many elements of rows
/// ahead are asked for as there are in these values.
template <class Isa, int Vectors, int Dims, bool Narrows, bool Asks>
[[gnu::noinline]] bool output_tile(const float* weights, const int (&end)[Vectors],
                                   const float* value, std::int64_t value_stride,
                                   const float* correction, bool only_finite, RowsAhead* rows_ahead,
                                   float* output) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  constexpr int group = Dims % Isa::lane_group == 0 ? Isa::lane_group : 1;
  Vector sum[Dims][Vectors];
  unroll<Dims>([&](auto i) __attribute__((always_inline)) {
    unroll<Vectors>([&](auto v)
                        __attribute__((always_inline)) { sum[i][v] = Isa::broadcast(0.0f); });
  });
  const auto add_key = [&](auto first) __attribute__((always_inline)) {
    constexpr int vectors = Vectors - first;
    Vector rows[vectors];
    unroll<vectors>([&](auto v) __attribute__((always_inline)) {
      rows[v] = Isa::kept(Isa::load(weights + (first + v) * lanes));
    });
    unroll<Dims / group>([&](auto g) __attribute__((always_inline)) {
      const auto factors = Isa::template load_group<group>(value + g * group);
      unroll<group>([&](auto i) __attribute__((always_inline)) {
        const auto factor = Isa::template lane<i>(factors);
        unroll<vectors>([&](auto v) __attribute__((always_inline)) {
          constexpr int dim = decltype(g)::value * group + decltype(i)::value;
          Vector& total = sum[dim][first + v];
          total = Isa::multiply_add(factor, rows[v], total);
        });
      });
    });
    weights += width;
    value += value_stride;
  };
  RowsAhead ahead = Asks ? *rows_ahead : RowsAhead{};
  int j = 0;
  unroll<Narrows ? Vectors : 1>([&](auto first) __attribute__((always_inline)) {
    for (; j + Isa::unrolled_keys <= end[first]; j += Isa::unrolled_keys) {
      if constexpr (Asks && first == 0) ahead.ask<Isa::unrolled_keys * Dims>();
      unroll<Isa::unrolled_keys>([&](auto) __attribute__((always_inline)) { add_key(first); });
    }
    for (; j < end[first]; ++j)
      add_key(first);
  });
  if constexpr (Asks) *rows_ahead = ahead;
  const auto for_sums = [&](auto&& see) __attribute__((always_inline)) {
    unroll<Dims>([&](auto i) __attribute__((always_inline)) {
      unroll<Vectors>([&](auto v) __attribute__((always_inline)) { see(sum[i][v]); });
    });
  };
  if (only_finite && any_not_finite<Isa>(for_sums)) return false;
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    const Vector factor = Isa::load(correction + v * lanes);
    unroll<Dims>([&](auto i) __attribute__((always_inline)) {
      float* target = output + i * width + v * lanes;
      Isa::store(target, Isa::fma(Isa::load(target), factor, sum[i][v]));
    });
  });
  return true;
}

} // namespace simdattn::kernels
