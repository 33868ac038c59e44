#pragma once
// AVX2 with FMA: 16 registers of 8 floats.

#include "arch/xsimd_isa.hpp"

#include <immintrin.h>

namespace simdattn {
namespace {

struct Avx2 : XsimdIsa<xsimd::fma3<xsimd::avx2>> {
  static constexpr TileSizes tiles{.lanes = 8,
                                   .panel_rows = 24,
                                   .score_keys = 4,
                                   .output_dims = 4,
                                   .row_block = 96,
                                   .key_block = 256,
                                   .key_block_large_dim = 256,
                                   .key_block_one_panel = 64,
                                   .key_block_apart = 0,
                                   .few_rows = 4};
  // 12 sums, the rows they share and one factor: all 16 registers.
  static constexpr int score_keys(int vectors) { return vectors == 3 ? 4 : vectors == 2 ? 6 : 12; }
  static constexpr int output_dims(int vectors) { return vectors == 3 ? 4 : vectors == 2 ? 6 : 8; }

  static Vector load_first(const float* p, int count) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return Vector(_mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane)));
  }

  static Vector kept(Vector v) { return v; } // multiply_add's operands are registers

  static constexpr int lane_group = 4;
  // In place: GCC 12, left to itself, moves sums from register to register, where none is free.
  static Vector multiply_add(Vector factor, Vector a, Vector sum) {
    asm("vfmadd231ps %2, %1, %0" : "+x"(sum.data) : "x"(a.data), "x"(factor.data));
    return sum;
  }

  // As a select, GCC 12 adds an integer comparison.
  static Vector zero_where(Mask mask, Vector v) {
    return Vector(_mm256_andnot_ps(mask.data, v.data));
  }

  // xsimd 8.1 would load the elements one by one.
  static Bits load_16_bits(const std::uint16_t* p) {
    return Bits(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }

  static Vector load_boolean(const unsigned char* p) {
    const __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    const __m256i excluded = _mm256_cmpeq_epi32(wide, _mm256_setzero_si256());
    return Vector(_mm256_and_ps(_mm256_castsi256_ps(excluded), _mm256_set1_ps(-__builtin_inff())));
  }

  static void zip(Vector a, Vector b, Vector& low, Vector& high) {
    const __m256 even = _mm256_unpacklo_ps(a.data, b.data),
                 odd = _mm256_unpackhi_ps(a.data, b.data);
    low = Vector(_mm256_permute2f128_ps(even, odd, 0x20));
    high = Vector(_mm256_permute2f128_ps(even, odd, 0x31));
  }

  // 8 × 8 by pairs, quads, halves.
  static void transpose(Vector (&v)[8]) {
    __m256 pair[8], quad[8];
    for (int i = 0; i < 8; i += 2) {
      pair[i] = _mm256_unpacklo_ps(v[i].data, v[i + 1].data);
      pair[i + 1] = _mm256_unpackhi_ps(v[i].data, v[i + 1].data);
    }
    for (int i = 0; i < 8; i += 4) {
      quad[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
      quad[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
      quad[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
      quad[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
      v[i].data = _mm256_permute2f128_ps(quad[i], quad[i + 4], 0x20);
      v[i + 4].data = _mm256_permute2f128_ps(quad[i], quad[i + 4], 0x31);
    }
  }
};

} // namespace
} // namespace simdattn
