#pragma once
// Elements of the caller's rows as floats: numbers of any type, and booleans as what they add to a
// score.

#include "simdattn/tensor.hpp"

#include <cstdint>

namespace simdattn::kernels {

template <class Isa>
[[gnu::always_inline]] inline float load_element(const float* p) {
  return *p;
}
template <class Isa>
[[gnu::always_inline]] inline float load_element(const unsigned char* p) {
  return *p != 0 ? 0.0f : -__builtin_inff();
}
template <class Isa>
[[gnu::always_inline]] inline float load_element(const BFloat16* p) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(p->bits) << 16);
}
/// Without denormal floats, which the caller may have turned off.
template <class Isa>
[[gnu::always_inline]] inline float load_element(const Float16* p) {
  const std::uint32_t magnitude = p->bits & 0x7fffu;
  const std::uint32_t sign = static_cast<std::uint32_t>(p->bits & 0x8000u) << 16;
  const std::uint32_t normal = (magnitude << 13) + (112u << 23);
  const std::uint32_t special = (magnitude << 13) | 0x7f800000u;
  const float below_normal = static_cast<float>(magnitude) * 0x1p-24f;
  const std::uint32_t size = magnitude < 0x0400u   ? __builtin_bit_cast(std::uint32_t, below_normal)
                             : magnitude < 0x7c00u ? normal
                                                   : special;
  return __builtin_bit_cast(float, size | sign);
}

template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector load_elements(const float* p) {
  return Isa::load(p);
}
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector load_elements(const unsigned char* p) {
  return Isa::load_boolean(p);
}
template <class Isa, class T>
[[gnu::always_inline]] inline typename Isa::Vector load_one_by_one(const T* p) {
  alignas(64) float values[Isa::lanes];
  for (int i = 0; i < Isa::lanes; ++i)
    values[i] = load_element<Isa>(p + i);
  return Isa::load(values);
}
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector load_elements(const BFloat16* p) {
  if constexpr (requires { Isa::load_bf16(&p->bits); })
    return Isa::load_bf16(&p->bits);
  else if constexpr (requires { Isa::load_16_bits(&p->bits); })
    return Isa::widen_bf16(Isa::load_16_bits(&p->bits));
  else
    return load_one_by_one<Isa>(p);
}
template <class Isa>
[[gnu::always_inline]] inline typename Isa::Vector load_elements(const Float16* p) {
  if constexpr (requires { Isa::load_f16(&p->bits); })
    return Isa::load_f16(&p->bits);
  else if constexpr (requires { Isa::load_16_bits(&p->bits); })
    return Isa::widen_f16(Isa::load_16_bits(&p->bits));
  else
    return load_one_by_one<Isa>(p);
}

} // namespace simdattn::kernels
