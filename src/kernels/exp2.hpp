#pragma once
// 2^x for the softmax, where x is a score less its row's maximum.

namespace simdattn::kernels {

/// Weights below 2^-64 of the largest are exactly 0: denormal weights, and their products with V,
/// would cost a hundred times a normal one.
inline constexpr float exp2_cutoff = -64.0f;

/// g(f), where 2^f = 1 + f·g(f) for f in [-1/2, 1/2]: the polynomial of degree 4 for which error
/// plus rounding of 1 + f·g(f), in units of the result's last place, is least at worst: by linear
/// programming, with what each step without FMA may round added to the error, and each coefficient
/// rounded before the next is sought. Over every float the worst is 1.78 with FMA, 1.85 without.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector exp2_slope(typename Isa::Vector fraction) {
  using Vector = typename Isa::Vector;
  Vector g = Isa::fma(Isa::broadcast(0x1.5954a6p-10f), fraction, Isa::broadcast(0x1.3cf58ep-7f));
  g = Isa::fma(g, fraction, Isa::broadcast(0x1.c6be4cp-5f));
  g = Isa::fma(g, fraction, Isa::broadcast(0x1.ebf996p-3f));
  return Isa::fma(g, fraction, Isa::broadcast(0x1.62e42p-1f));
}

/// 2^x for x ≤ 0, within 2 ULP; exactly 0 for x < -64, -inf included; exactly 1 for 0; NaN for NaN.
/// x = n + f with n = round(x), and 2^f = 1 + f·g(f), so that 2^0 is 1 without rounding.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector exp2(typename Isa::Vector x) {
  typename Isa::Vector fraction;
  const auto exponent = Isa::split_exponent(x, fraction);
  const auto power = Isa::fma(exp2_slope<Isa>(fraction), fraction, Isa::broadcast(1.0f));
  return Isa::zero_where(Isa::less(x, Isa::broadcast(exp2_cutoff)),
                         Isa::scale_by_exponent(power, exponent));
}

/// 2^x − 1 for x ≤ 0, to the same relative error near 0 as far from it; NaN for NaN.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector expm1_base2(typename Isa::Vector x) {
  typename Isa::Vector fraction;
  const auto one = Isa::broadcast(1.0f);
  const auto exponent = Isa::split_exponent(Isa::max(Isa::broadcast(exp2_cutoff), x), fraction);
  const auto power_less_1 = Isa::mul(exp2_slope<Isa>(fraction), fraction);
  // 2^n (2^f − 1) + (2^n − 1)
  return Isa::add(Isa::scale_by_exponent(power_less_1, exponent),
                  Isa::sub(Isa::scale_by_exponent(one, exponent), one));
}

} // namespace simdattn::kernels
