#pragma once
// The two products, one register tile at a time. Lanes are query rows; a panel is Vectors vectors
// of rows, stored with its rows innermost, so that nothing is ever summed across lanes and K and V
// are read as they lie, one broadcast an element.
//
// Vectors of rows that several products share are pinned in registers, by Isa::kept or by
// Isa::multiply_add: GCC 12 otherwise reads them from memory again in every FMA.

#include "kernels/unroll.hpp"

#include <cfloat>
#include <cstdint>

namespace simdattn::kernels {

/// Keys of one turn of output_tile's loop, whose counting would else take a tenth of its
/// instructions.
inline constexpr int unrolled_keys = 4;

/// A mask as what it adds to each score, in the order of the scores.
struct MaskValues {
  const float* values = nullptr; ///< nullptr: no mask
  bool excludes = false; ///< whether −inf is among them, or what would make a score −inf

  [[gnu::always_inline]] MaskValues from(std::int64_t offset) const {
    return {values == nullptr ? nullptr : values + offset, excludes};
  }
};

/// score + added. The sum of finite numbers stays finite, and −inf excludes whatever the score was.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector masked_score(typename Isa::Vector score,
                                                                typename Isa::Vector added) {
  const auto lowest = Isa::broadcast(-FLT_MAX);
  const auto sum = Isa::max(lowest, Isa::add(score, added));
  const auto absent = Isa::either(Isa::less(added, lowest), Isa::less(score, lowest));
  return Isa::select(absent, Isa::broadcast(-__builtin_inff()), sum);
}

/// scores[k][row] = Σ_d key[k][d] · query[d][row] + mask[k][row] for Keys keys, and tile_max[row] =
/// max(tile_max, scores).
template <class Isa, int Vectors, int Keys>
[[gnu::noinline]] void score_tile(const float* query, int dim, const float* key,
                                  std::int64_t key_stride, MaskValues mask, float* scores,
                                  float* tile_max) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  Vector sum[Keys][Vectors];
  unroll<Keys>([&](auto k) __attribute__((always_inline)) {
    unroll<Vectors>([&](auto v)
                        __attribute__((always_inline)) { sum[k][v] = Isa::broadcast(0.0f); });
  });
  const auto add_dims = [&](auto size, int d) __attribute__((always_inline)) {
    constexpr int group = decltype(size)::value;
    typename Isa::template Group<group> factors[Keys];
    unroll<Keys>([&](auto k) __attribute__((always_inline)) {
      factors[k] = Isa::template load_group<group>(key + k * key_stride + d);
    });
    unroll<group>([&](auto i) __attribute__((always_inline)) {
      Vector rows[Vectors];
      unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
        rows[v] = Isa::kept(Isa::load(query + (d + i) * width + v * lanes));
      });
      unroll<Keys>([&](auto k) __attribute__((always_inline)) {
        const auto factor = Isa::template lane<i>(factors[k]);
        unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
          sum[k][v] = Isa::multiply_add(factor, rows[v], sum[k][v]);
        });
      });
    });
  };
  int d = 0;
  for (; d + Isa::lane_group <= dim; d += Isa::lane_group)
    add_dims(Index<Isa::lane_group>{}, d);
  if constexpr (Isa::lane_group > 1) {
    for (; d < dim; ++d)
      add_dims(Index<1>{}, d);
  }
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
  if (mask.values == nullptr) {
    write([](Vector score, int) __attribute__((always_inline)) { return score; });
  } else if (!mask.excludes) {
    write([&](Vector score, int at) __attribute__((always_inline)) {
      return Isa::add(score, Isa::load(mask.values + at));
    });
  } else {
    write([&](Vector score, int at) __attribute__((always_inline)) {
      return masked_score<Isa>(score, Isa::load(mask.values + at));
    });
  }
}

/// Whether some number is infinite or NaN.
template <class Isa, int Rows, int Columns>
[[gnu::always_inline]] inline bool
any_not_finite(const typename Isa::Vector (&numbers)[Rows][Columns]) {
  const auto zero = Isa::broadcast(0.0f);
  auto zeros = zero;
  unroll<Rows>([&](auto r) __attribute__((always_inline)) {
    unroll<Columns>([&](auto c) __attribute__((always_inline)) {
      zeros = Isa::fma(numbers[r][c], zero, zeros); // NaN from ±∞ · 0
    });
  });
  return Isa::any(Isa::is_nan(zeros));
}

/// output[d][row] = output · correction[row] + Σ_j value[j][d] · weights[j][row] for Dims dims. The
/// sum over the key block starts from zero, so that rounding grows with the block and not with the
/// sequence. Where `only_finite`, a sum that isn't finite leaves output as it was; returns whether
/// it was written.
template <class Isa, int Vectors, int Dims>
[[gnu::noinline]] bool output_tile(const float* weights, int keys, const float* value,
                                   std::int64_t value_stride, const float* correction,
                                   bool only_finite, float* output) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  constexpr int group = Dims % Isa::lane_group == 0 ? Isa::lane_group : 1;
  Vector sum[Dims][Vectors];
  unroll<Dims>([&](auto i) __attribute__((always_inline)) {
    unroll<Vectors>([&](auto v)
                        __attribute__((always_inline)) { sum[i][v] = Isa::broadcast(0.0f); });
  });
  const auto add_key = [&]() __attribute__((always_inline)) {
    Vector rows[Vectors];
    unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
      rows[v] = Isa::kept(Isa::load(weights + v * lanes));
    });
    unroll<Dims / group>([&](auto g) __attribute__((always_inline)) {
      const auto factors = Isa::template load_group<group>(value + g * group);
      unroll<group>([&](auto i) __attribute__((always_inline)) {
        const auto factor = Isa::template lane<i>(factors);
        unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
          constexpr int dim = decltype(g)::value * group + decltype(i)::value;
          sum[dim][v] = Isa::multiply_add(factor, rows[v], sum[dim][v]);
        });
      });
    });
    weights += width;
    value += value_stride;
  };
  int j = 0;
  for (; j + unrolled_keys <= keys; j += unrolled_keys)
    unroll<unrolled_keys>([&](auto) __attribute__((always_inline)) { add_key(); });
  for (; j < keys; ++j)
    add_key();
  if (only_finite && any_not_finite<Isa>(sum)) return false;
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
