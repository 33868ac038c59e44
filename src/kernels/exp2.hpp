#pragma once
// 2^x for the softmax, where x is a score less its row's maximum.

#include "kernels/unroll.hpp"

namespace simdattn::kernels {

/// From here down 2^x is exactly 0: denormal weights, and their products with V, would cost a
/// hundred times a normal one.
inline constexpr float exp2_cutoff = -63.5f;
/// It rounds to this exponent, for which Isa::scale_by_exponent() gives 0.
inline constexpr float least_exponent = -64.0f;

/// Where the fraction f of an exponent lies.
enum class Fraction { around_zero, above_floor };

/// Isa::scale_by_exponent() takes numbers this many times as large: then the float that it
/// multiplies by is 0 for least_exponent.
inline constexpr float before_scaling = 0x1p63f;

/// factor · g(f), where 2^f = 1 + f·g(f) for f in [-1/2, 1/2], or in [0, 1]: the polynomial of
/// degree 4 for which error plus rounding of 1 + f·g(f), in units of the result's last place, is
/// least at worst: by linear programming, with what each step without FMA may round added to the
/// error, and each coefficient rounded before the next is sought; for [0, 1], where f may have been
/// rounded down to a multiple of 2^-24, all at once, and then the best of their neighbours. Over
/// every float the worst is 1.78 with FMA and 1.85 without for the former, 1.89 with FMA for the
/// latter. The factor is a power of two.
template <class Isa, Fraction range>
[[gnu::always_inline]] inline typename Isa::Vector exp2_slope(typename Isa::Vector fraction,
                                                              float factor) {
  using Vector = typename Isa::Vector;
  constexpr bool around = range == Fraction::around_zero;
  constexpr float coefficients[5] = {
      around ? 0x1.62e42p-1f : 0x1.62e516p-1f, around ? 0x1.ebf996p-3f : 0x1.ebcd1ap-3f,
      around ? 0x1.c6be4cp-5f : 0x1.c9cb2ap-5f, around ? 0x1.3cf58ep-7f : 0x1.243658p-7f,
      around ? 0x1.5954a6p-10f : 0x1.f42cc4p-10f};
  Vector g = Isa::broadcast(factor * coefficients[4]);
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    g = Isa::fma(g, fraction, Isa::broadcast(factor * coefficients[3 - i]));
  });
  return g;
}

/// 2^x for x ≤ 0, within 2 ULP; exactly 0 for x ≤ exp2_cutoff, -inf included; exactly 1 for 0; NaN
/// for NaN. x = n + f with n = round(x), or floor(x) where scaling takes that by itself, and
/// 2^f = 1 + f·g(f), so that 2^0 is 1 without rounding.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector exp2(typename Isa::Vector x) {
  typename Isa::Vector fraction;
  if constexpr (requires { Isa::scale_by_floor(x, x, x); }) {
    fraction = Isa::above_floor(x);
    const auto slope = exp2_slope<Isa, Fraction::above_floor>(fraction, 1.0f);
    return Isa::scale_by_floor(Isa::fma(slope, fraction, Isa::broadcast(1.0f)), x,
                               Isa::broadcast(exp2_cutoff));
  } else {
    const auto exponent =
        Isa::split_exponent(Isa::max(Isa::broadcast(least_exponent), x), fraction);
    const auto slope = exp2_slope<Isa, Fraction::around_zero>(fraction, before_scaling);
    return Isa::scale_by_exponent(Isa::fma(slope, fraction, Isa::broadcast(before_scaling)),
                                  exponent);
  }
}

/// 2^x − 1 for x ≤ 0, to the same relative error near 0 as far from it; NaN for NaN.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector expm1_base2(typename Isa::Vector x) {
  typename Isa::Vector fraction;
  const auto exponent = Isa::split_exponent(Isa::max(Isa::broadcast(least_exponent), x), fraction);
  const auto power_less_1 =
      Isa::mul(exp2_slope<Isa, Fraction::around_zero>(fraction, before_scaling), fraction);
  // 2^n (2^f − 1) + (2^n − 1)
  return Isa::add(Isa::scale_by_exponent(power_less_1, exponent),
                  Isa::sub(Isa::scale_by_exponent(Isa::broadcast(before_scaling), exponent),
                           Isa::broadcast(1.0f)));
}

} // namespace simdattn::kernels
