#pragma once
// The part of an Isa trait that xsimd writes for every architecture. An arch/<isa>/isa.hpp derives
// from it and adds tile sizes and what is better by hand; docs/adding-an-isa.md lists what a trait
// must have.

#include "kernel_table.hpp"

#include <cstdint>
#include <xsimd/xsimd.hpp>

namespace simdattn {
namespace {

template <class Arch>
struct XsimdIsa {
  using Batch = xsimd::batch<float, Arch>;
  using Bits = xsimd::batch<std::int32_t, Arch>;
  using Vector = Batch;
  using Mask = xsimd::batch_bool<float, Arch>;
  static constexpr int lanes = static_cast<int>(Batch::size);

  static Vector load(const float* p) { return Batch::load_unaligned(p); }
  static void store(float* p, Vector v) { v.store_unaligned(p); }
  static Vector broadcast(float x) { return Batch(x); }

  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector sub(Vector a, Vector b) { return a - b; }
  static Vector mul(Vector a, Vector b) { return a * b; }
  static Vector fma(Vector a, Vector b, Vector c) { return xsimd::fma(a, b, c); }
  // b where b is NaN.
  static Vector max(Vector a, Vector b) { return xsimd::max(a, b); }
  static Vector div(Vector a, Vector b) { return a / b; }

  static Mask less(Vector a, Vector b) { return a < b; }
  static Mask not_less(Vector a, Vector b) { return !(a < b); }
  // xsimd 8's != is false for NaN.
  static Mask is_nan(Vector a) { return !(a == a); }
  static Mask either(Mask a, Mask b) { return a | b; }
  static Vector select(Mask mask, Vector a, Vector b) { return xsimd::select(mask, a, b); }
  /// 0 where the mask is set, else v.
  static Vector zero_where(Mask mask, Vector v) { return select(mask, Batch(0.0f), v); }
  static bool any(Mask mask) { return xsimd::any(mask); }

  // 0 for true, −inf for false.
  static Vector load_boolean(const unsigned char* p) {
    alignas(64) float values[lanes];
    for (int i = 0; i < lanes; ++i)
      values[i] = p[i] != 0 ? 0.0f : -__builtin_inff();
    return load(values);
  }

  // From the bits of numbers of 16 bits.
  static Vector widen_bf16(Bits bits) { return xsimd::bitwise_cast<Batch>(bits << 16); }
  // Without denormal floats, which the caller may have turned off.
  static Vector widen_f16(Bits bits) {
    const Bits size = bits & Bits(0x7fff), sign = (bits ^ size) << 16, shifted = size << 13;
    const Batch below_normal = xsimd::batch_cast<float>(size) * Batch(0x1p-24f);
    const Bits finite = xsimd::select(size < Bits(0x0400), xsimd::bitwise_cast<Bits>(below_normal),
                                      shifted + Bits(112 << 23));
    return xsimd::bitwise_cast<Batch>(
        xsimd::select(size < Bits(0x7c00), finite, shifted | Bits(0x7f800000)) | sign);
  }

  // One element that a whole vector is multiplied by. Hardware that multiplies by a lane overrides
  // these.
  static constexpr int lane_group = 1;
  // Keys of one turn of output_tile's loop, whose counting would else take a tenth of its
  // instructions.
  static constexpr int unrolled_keys = 4;
  // Sums of a tile of few rows that fit into registers.
  static constexpr int row_tile_sums = 8;
  template <int Size>
  using Group = const float*;
  template <int Size>
  static Group<Size> load_group(const float* p) {
    return p;
  }
  template <int I>
  static Vector lane(const float* p) {
    return broadcast(p[I]);
  }
  static Vector multiply(Vector factor, Vector a) { return mul(factor, a); }
  static Vector multiply_add(Vector factor, Vector a, Vector sum) { return fma(factor, a, sum); }

  // x = n + fraction with n = round(x); n + 64, left in the low bits of exponent, is the exponent
  // field of the float 2^(n − 63), and of 0 for n = −64.
  static Vector split_exponent(Vector x, Vector& fraction) {
    const Batch round_and_bias(12582912.0f + 64.0f);
    const Batch exponent = x + round_and_bias;
    fraction = x - (exponent - round_and_bias);
    return exponent;
  }
  // A product, not a sum of exponents: NaN stays NaN whatever its payload.
  static Vector scale_by_exponent(Vector x, Vector exponent) {
    return x * xsimd::bitwise_cast<Batch>(xsimd::bitwise_cast<Bits>(exponent) << 23);
  }
};

} // namespace
} // namespace simdattn
