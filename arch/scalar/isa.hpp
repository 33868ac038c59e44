#pragma once
// The portable baseline: vectors of the compiler (GCC's and clang's vector extension), whatever the
// target has for them. 16 registers of 4 floats are assumed, and no FMA.

#include "kernel_table.hpp"

#include <cstdint>
#include <cstring>

namespace simdattn {
namespace {

struct Scalar {
  static constexpr TileSizes tiles{.lanes = 4,
                                   .panel_rows = 8,
                                   .score_keys = 4,
                                   .output_dims = 4,
                                   .row_block = 48,
                                   .key_block = 256,
                                   .key_block_large_dim = 128,
                                   .key_block_one_panel = 64,
                                   .key_block_apart = 0,
                                   .few_rows = 2};
  static constexpr int score_keys(int vectors) { return vectors == 2 ? 4 : 8; }
  static constexpr int output_dims(int vectors) { return vectors == 2 ? 4 : 8; }

  using Vector = float __attribute__((vector_size(16)));
  using Mask = std::int32_t __attribute__((vector_size(16)));
  static constexpr int lanes = 4;

  static Vector load(const float* p) {
    Vector v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(float* p, Vector v) { std::memcpy(p, &v, sizeof v); }
  static Vector broadcast(float x) { return Vector{x, x, x, x}; }
  static Vector kept(Vector v) { return v; }

  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector sub(Vector a, Vector b) { return a - b; }
  static Vector mul(Vector a, Vector b) { return a * b; }
  static Vector fma(Vector a, Vector b, Vector c) { return a * b + c; }
  // b where b is NaN.
  static Vector max(Vector a, Vector b) { return a > b ? a : b; }
  static Vector div(Vector a, Vector b) { return a / b; }

  static Mask less(Vector a, Vector b) { return a < b; }
  static Mask not_less(Vector a, Vector b) { return ~(a < b); }
  static Mask is_nan(Vector a) { return a != a; }
  static Mask either(Mask a, Mask b) { return a | b; }
  static Vector select(Mask mask, Vector a, Vector b) { return mask ? a : b; }
  static Vector load_boolean(const unsigned char* p) {
    const Mask excluded = Mask{p[0], p[1], p[2], p[3]} == Mask{};
    return excluded ? broadcast(-__builtin_inff()) : broadcast(0.0f);
  }
  static Vector zero_where(Mask mask, Vector v) {
    return reinterpret_cast<Vector>(~mask & reinterpret_cast<Mask>(v));
  }
  static bool any(Mask mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }

  static constexpr int lane_group = 1;
  static constexpr int unrolled_keys = 4;
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

  // As in XsimdIsa: n = round(x), plus 64, in the low bits of the exponent.
  static Vector split_exponent(Vector x, Vector& fraction) {
    const float round_and_bias = 12582912.0f + 64.0f;
    const Vector exponent = x + round_and_bias;
    fraction = x - (exponent - round_and_bias);
    return exponent;
  }
  static Vector scale_by_exponent(Vector x, Vector exponent) {
    return x * reinterpret_cast<Vector>(reinterpret_cast<Mask>(exponent) << 23);
  }

  static void transpose(Vector (&v)[4]) {
    for (int r = 0; r < 4; ++r) {
      for (int c = r + 1; c < 4; ++c) {
        const float swapped = v[r][c];
        v[r][c] = v[c][r];
        v[c][r] = swapped;
      }
    }
  }
};

} // namespace
} // namespace simdattn
