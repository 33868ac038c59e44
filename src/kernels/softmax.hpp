#pragma once
// The online softmax of one panel (Milakov and Gimelshein, "Online normalizer calculation for
// softmax", 2018), in powers of two. Scores come multiplied by log2(e), or, where something is
// still added to them, in natural units.

#include "kernels/exp2.hpp"
#include "kernels/unroll.hpp"

#include <cfloat>

namespace simdattn::kernels {

inline constexpr float log2_e = 1.44269504088896340736f;
inline constexpr double ln_2 = 0.69314718055994530942;

enum class Units { powers_of_two, natural };

/// exp(score − largest), in whatever units the two are. Natural ones are subtracted before they are
/// multiplied, so that no finite score overflows.
template <class Isa, Units units>
[[gnu::always_inline]] inline typename Isa::Vector weight_of(typename Isa::Vector score,
                                                             typename Isa::Vector largest) {
  const auto difference = Isa::sub(score, largest);
  if constexpr (units == Units::natural)
    return exp2<Isa>(Isa::mul(difference, Isa::broadcast(log2_e)));
  else
    return exp2<Isa>(difference);
}

/// The maximum to subtract: a row that has seen nothing but −inf keeps its weights at 2^-inf = 0.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector finite_max(typename Isa::Vector row_max) {
  return Isa::select(Isa::less(row_max, Isa::broadcast(-FLT_MAX)), Isa::broadcast(0.0f), row_max);
}

/// 1 / row_sum, and 0 for a row that sees no key.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector normaliser(typename Isa::Vector row_sum) {
  return Isa::select(Isa::less(row_sum, Isa::broadcast(FLT_MIN)), Isa::broadcast(0.0f),
                     Isa::div(Isa::broadcast(1.0f), row_sum));
}

/// tile_max[row] = the largest score of the row; -inf when keys is 0.
template <class Isa, int Vectors>
void find_max(const float* scores, int keys, float* tile_max) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    Vector largest = Isa::broadcast(-__builtin_inff());
    for (int j = 0; j < keys; ++j)
      largest = Isa::max(largest, Isa::load(scores + j * width + v * lanes));
    Isa::store(tile_max + v * lanes, largest);
  });
}

/// Turns scores into weights exp(score − max) in place, with max the larger of row_max and
/// tile_max; updates row_max and row_sum, and writes to correction what earlier sums of the row are
/// to be multiplied by.
template <class Isa, int Vectors, Units units>
[[gnu::noinline]] void online_softmax(float* scores, int keys, const float* tile_max,
                                      float* row_max, float* row_sum, float* correction) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  Vector largest[Vectors], sum[Vectors];
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    const Vector before = Isa::load(row_max + v * lanes);
    const Vector now = Isa::max(before, Isa::load(tile_max + v * lanes));
    largest[v] = finite_max<Isa>(now);
    sum[v] = Isa::broadcast(0.0f);
    Isa::store(row_max + v * lanes, now);
    Isa::store(correction + v * lanes, weight_of<Isa, units>(before, largest[v]));
  });
  for (int j = 0; j < keys; ++j) {
    unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
      float* score = scores + j * width + v * lanes;
      const Vector weight = weight_of<Isa, units>(Isa::load(score), largest[v]);
      Isa::store(score, weight);
      sum[v] = Isa::add(sum[v], weight);
    });
  }
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    const Vector factor = Isa::load(correction + v * lanes);
    Isa::store(row_sum + v * lanes, Isa::fma(Isa::load(row_sum + v * lanes), factor, sum[v]));
  });
}

/// Turns scores into weights exp(score − row_max) / row_sum in place, once both are final. A score
/// of −inf weighs exactly 0, in a row of NaN too.
template <class Isa, int Vectors, Units units>
void final_softmax(float* scores, int keys, const float* row_max, const float* row_sum) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    const Vector largest = finite_max<Isa>(Isa::load(row_max + v * lanes));
    const Vector factor = normaliser<Isa>(Isa::load(row_sum + v * lanes));
    for (int j = 0; j < keys; ++j) {
      float* target = scores + j * width + v * lanes;
      const Vector score = Isa::load(target);
      const Vector weight = Isa::mul(weight_of<Isa, units>(score, largest), factor);
      Isa::store(target, Isa::zero_where(Isa::less(score, Isa::broadcast(-FLT_MAX)), weight));
    }
  });
}

/// Takes a score without a value, one for each row, into the sums: row_max and row_sum become those
/// of the row with it, and factor what the row's output is to be multiplied by.
template <class Isa, Units units>
[[gnu::always_inline]] inline void join_sink(typename Isa::Vector sink, float* row_max,
                                             float* row_sum, float* factor) {
  if constexpr (units == Units::powers_of_two) sink = Isa::mul(sink, Isa::broadcast(log2_e));
  const auto before = Isa::load(row_max);
  const auto now = Isa::max(before, sink);
  const auto largest = finite_max<Isa>(now);
  const auto correction = weight_of<Isa, units>(before, largest);
  const auto sum = Isa::fma(Isa::load(row_sum), correction, weight_of<Isa, units>(sink, largest));
  Isa::store(row_max, now);
  Isa::store(row_sum, sum);
  Isa::store(factor, correction);
}

} // namespace simdattn::kernels
