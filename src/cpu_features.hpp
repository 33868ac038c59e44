#pragma once
// What the processor and its operating system can run, and how large its caches are.

#include <cstddef>
#include <cstdint>

namespace simdattn {

/// A set of instruction set features, one bit each.
using CpuFeatures = std::uint32_t;

namespace feature {
inline constexpr CpuFeatures avx2 = 1u << 0;
inline constexpr CpuFeatures fma = 1u << 1;
inline constexpr CpuFeatures f16c = 1u << 2;
inline constexpr CpuFeatures avx512f = 1u << 3;
inline constexpr CpuFeatures avx512bw = 1u << 4;
inline constexpr CpuFeatures avx512dq = 1u << 5;
inline constexpr CpuFeatures avx512vl = 1u << 6;
inline constexpr CpuFeatures avx512_bf16 = 1u << 7;
inline constexpr CpuFeatures avx512_fp16 = 1u << 8;
inline constexpr CpuFeatures amx_tile = 1u << 9;
inline constexpr CpuFeatures amx_bf16 = 1u << 10;
inline constexpr CpuFeatures neon = 1u << 11;
} // namespace feature

struct FeatureName {
  CpuFeatures bit;
  const char* name;
};
/// Every feature that detection knows, in the order of the bits.
inline constexpr FeatureName feature_names[] = {
    {feature::avx2, "avx2"},
    {feature::fma, "fma"},
    {feature::f16c, "f16c"},
    {feature::avx512f, "avx512f"},
    {feature::avx512bw, "avx512bw"},
    {feature::avx512dq, "avx512dq"},
    {feature::avx512vl, "avx512vl"},
    {feature::avx512_bf16, "avx512_bf16"},
    {feature::avx512_fp16, "avx512_fp16"},
    {feature::amx_tile, "amx_tile"},
    {feature::amx_bf16, "amx_bf16"},
    {feature::neon, "neon"},
};

/// The registers that x86 features are decoded from, as CPUID and XGETBV return them; 0 where a
/// leaf is missing.
struct X86Registers {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_edx = 0;
  std::uint32_t leaf7_1_eax = 0;
  std::uint64_t xcr0 = 0; ///< 0 unless leaf1_ecx says that XGETBV may be used
};

/// Decodes features: an instruction set counts only if the operating system saves its registers
/// (`xcr0`).
CpuFeatures decode_x86_features(const X86Registers& registers) noexcept;

/// The features of the CPU this runs on; detected once.
CpuFeatures cpu_features() noexcept;

/// Data cache sizes of one core in bytes; 0 where unknown.
struct CacheSizes {
  std::size_t l1 = 0;
  std::size_t l2 = 0;
  std::size_t l3 = 0;
};

/// The sizes that the operating system reports; read once.
CacheSizes cache_sizes() noexcept;

} // namespace simdattn
