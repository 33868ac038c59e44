#pragma once
// AVX-512 (F, BW, DQ, VL): 32 registers of 16 floats.

#include "arch/xsimd_isa.hpp"

#include <immintrin.h>

namespace simdattn {
namespace {

struct Avx512 : XsimdIsa<xsimd::avx512bw> {
  static constexpr TileSizes tiles{.lanes = 16,
                                   .panel_rows = 48,
                                   .score_keys = 8,
                                   .output_dims = 8,
                                   .row_block = 96,
                                   .key_block = 256,
                                   .key_block_large_dim = 256,
                                   .key_block_one_panel = 64,
                                   .key_block_apart = 128,
                                   .few_rows = 8};
  // 24 sums, the rows they share and one factor: 28 of 32 registers.
  static constexpr int score_keys(int vectors) { return vectors == 1 ? 16 : 8; }
  static constexpr int output_dims(int vectors) { return vectors == 1 ? 16 : 8; }

  static Vector load_first(const float* p, int count) {
    return Vector(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1u), p));
  }

  // xsimd 8.1 has a product and a sum, which not every compiler joins.
  static Vector fma(Vector a, Vector b, Vector c) {
    return Vector(_mm512_fmadd_ps(a.data, b.data, c.data));
  }
  static Vector multiply_add(Vector factor, Vector a, Vector sum) { return fma(factor, a, sum); }

  static Vector kept(Vector v) {
    asm("" : "+v"(v.data));
    return v;
  }

  static Vector split_exponent(Vector x, Vector& fraction) {
    fraction = Vector(_mm512_reduce_ps(x.data, 0));
    return x - fraction - Vector(63.0f);
  }
  static Vector scale_by_exponent(Vector x, Vector exponent) {
    return Vector(_mm512_scalef_ps(x.data, exponent.data));
  }

  // With its operand in memory, vreduceps waits for what its target held before (Zen 4).
  static Vector above_floor(Vector x) {
    constexpr int down = 1;
    return Vector(_mm512_reduce_ps(kept(x).data, down));
  }
  // Zeroing costs nothing here; as a select it would take an instruction.
  static Vector scale_by_floor(Vector v, Vector x, Vector cutoff) {
    const __mmask16 weighs = _mm512_cmp_ps_mask(x.data, cutoff.data, _CMP_NLE_UQ);
    return Vector(_mm512_maskz_scalef_ps(weighs, v.data, x.data));
  }

  // xsimd 8.1 would load the elements one by one.
  static Bits load_16_bits(const std::uint16_t* p) {
    return Bits(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
  }

  static Vector load_boolean(const unsigned char* p) {
    const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __mmask16 excluded = _mm512_testn_epi32_mask(wide, wide);
    return Vector(_mm512_maskz_mov_ps(excluded, _mm512_set1_ps(-__builtin_inff())));
  }

  static void zip(Vector a, Vector b, Vector& low, Vector& high) {
    const __m512i from_first =
        _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i from_eight = _mm512_add_epi32(from_first, _mm512_set1_epi32(8));
    low = Vector(_mm512_permutex2var_ps(a.data, from_first, b.data));
    high = Vector(_mm512_permutex2var_ps(a.data, from_eight, b.data));
  }

  static constexpr int row_tile_sums = 16;

  // Element i is the sum of v[i]'s elements: halved at each step, as two vectors become one.
  static Vector sums(const Vector (&v)[16]) {
    __m512 half[8], quarter[4];
    for (int i = 0; i < 8; ++i) {
      half[i] = _mm512_add_ps(_mm512_unpacklo_ps(v[2 * i].data, v[2 * i + 1].data),
                              _mm512_unpackhi_ps(v[2 * i].data, v[2 * i + 1].data));
    }
    for (int i = 0; i < 4; ++i) {
      quarter[i] = _mm512_add_ps(_mm512_shuffle_ps(half[2 * i], half[2 * i + 1], 0x44),
                                 _mm512_shuffle_ps(half[2 * i], half[2 * i + 1], 0xee));
    }
    const auto fold = [](__m512 a, __m512 b) {
      return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
    };
    return Vector(fold(fold(quarter[0], quarter[1]), fold(quarter[2], quarter[3])));
  }

  // 16 × 16 by pairs and quads within 128 bits, then the 4 × 4 squares of 128 bits.
  static void transpose(Vector (&v)[16]) {
    __m512 pair[16], quad[16];
    for (int i = 0; i < 16; i += 2) {
      pair[i] = _mm512_unpacklo_ps(v[i].data, v[i + 1].data);
      pair[i + 1] = _mm512_unpackhi_ps(v[i].data, v[i + 1].data);
    }
    for (int i = 0; i < 16; i += 4) {
      quad[i] = _mm512_shuffle_ps(pair[i], pair[i + 2], 0x44);
      quad[i + 1] = _mm512_shuffle_ps(pair[i], pair[i + 2], 0xee);
      quad[i + 2] = _mm512_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
      quad[i + 3] = _mm512_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
      const __m512 a = _mm512_shuffle_f32x4(quad[i], quad[i + 4], 0x88);
      const __m512 b = _mm512_shuffle_f32x4(quad[i], quad[i + 4], 0xdd);
      const __m512 c = _mm512_shuffle_f32x4(quad[i + 8], quad[i + 12], 0x88);
      const __m512 d = _mm512_shuffle_f32x4(quad[i + 8], quad[i + 12], 0xdd);
      v[i].data = _mm512_shuffle_f32x4(a, c, 0x88);
      v[i + 8].data = _mm512_shuffle_f32x4(a, c, 0xdd);
      v[i + 4].data = _mm512_shuffle_f32x4(b, d, 0x88);
      v[i + 12].data = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
  }
};

} // namespace
} // namespace simdattn
