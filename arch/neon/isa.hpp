#pragma once
// Advanced SIMD of AArch64: 32 registers of 4 floats, and products by one lane of a register.

#include "arch/xsimd_isa.hpp"

#include <arm_neon.h>
#include <cstdint>
#include <cstring>

namespace simdattn {
namespace {

struct Neon : XsimdIsa<xsimd::neon64> {
  static constexpr TileSizes tiles{.lanes = 4,
                                   .panel_rows = 12,
                                   .score_keys = 6,
                                   .output_dims = 8,
                                   .row_block = 48,
                                   .key_block = 256,
                                   .key_block_large_dim = 128,
                                   .key_block_one_panel = 64,
                                   .key_block_apart = 0,
                                   .few_rows = 2};
  // Scores: 18 sums, 3 vectors of rows and 6 of keys. Output: 24 sums, 3 vectors of rows and 2 of
  // values.
  static constexpr int score_keys(int vectors) { return vectors == 3 ? 6 : 8; }
  static constexpr int output_dims(int vectors) { return vectors == 3 ? 8 : vectors == 2 ? 8 : 16; }

  static Vector kept(Vector v) {
    asm("" : "+w"(v.data));
    return v;
  }

  static constexpr int lane_group = 4;
  static constexpr int unrolled_keys = 1; // GCC 12 spills where there are more
  template <int Size>
  struct GroupOf {
    float32x4_t values;
  };
  template <int Size>
  using Group = GroupOf<Size>;
  template <int I>
  struct Lane {
    float32x4_t values;
  };
  template <int Size>
  static Group<Size> load_group(const float* p) {
    if constexpr (Size == 4)
      return {vld1q_f32(p)};
    else
      return {vld1q_dup_f32(p)};
  }
  template <int I, int Size>
  static Lane<I> lane(GroupOf<Size> group) {
    return {group.values};
  }
  template <int I>
  static Vector multiply(Lane<I> factor, Vector a) {
    return vmulq_laneq_f32(a.data, factor.values, I);
  }
  template <int I>
  static Vector multiply_add(Lane<I> factor, Vector a, Vector sum) {
    return vfmaq_laneq_f32(sum.data, a.data, factor.values, I);
  }

  // xsimd's bitwise_cast leaves weak functions behind, one for each pair of types.
  static Vector scale_by_exponent(Vector x, Vector exponent) {
    const int32x4_t bits = vshlq_n_s32(vreinterpretq_s32_f32(exponent.data), 23);
    return vmulq_f32(x.data, vreinterpretq_f32_s32(bits));
  }

  static Vector load_bf16(const std::uint16_t* p) {
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
  }
  static Vector load_f16(const std::uint16_t* p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
  }

  static Vector load_boolean(const unsigned char* p) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, p, sizeof bytes);
    const uint16x4_t half = vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(bytes))));
    const uint32x4_t excluded = vceqzq_u32(vmovl_u16(half));
    return vbslq_f32(excluded, vdupq_n_f32(-__builtin_inff()), vdupq_n_f32(0.0f));
  }

  static void zip(Vector a, Vector b, Vector& low, Vector& high) {
    low = vzip1q_f32(a.data, b.data);
    high = vzip2q_f32(a.data, b.data);
  }

  static void transpose(Vector (&v)[4]) {
    const float32x4_t a = vtrn1q_f32(v[0].data, v[1].data), b = vtrn2q_f32(v[0].data, v[1].data);
    const float32x4_t c = vtrn1q_f32(v[2].data, v[3].data), d = vtrn2q_f32(v[2].data, v[3].data);
    v[0].data = vcombine_f32(vget_low_f32(a), vget_low_f32(c));
    v[1].data = vcombine_f32(vget_low_f32(b), vget_low_f32(d));
    v[2].data = vcombine_f32(vget_high_f32(a), vget_high_f32(c));
    v[3].data = vcombine_f32(vget_high_f32(b), vget_high_f32(d));
  }
};

} // namespace
} // namespace simdattn
