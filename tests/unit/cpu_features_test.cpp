// Decoding of CPUID and XGETBV, on registers made up here.

#include "cpu_features.hpp"

#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

constexpr std::uint64_t sse_state = 0x2, ymm_state = 0x6, zmm_state = 0xe6, tile_state = 0x60000;

// The bits of leaf 1 ECX and leaf 7, by name.
constexpr std::uint32_t fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
constexpr std::uint32_t avx2 = 1u << 5, avx512f = 1u << 16, avx512dq = 1u << 17,
                        avx512bw = 1u << 30, avx512vl = 1u << 31;
constexpr std::uint32_t amx_bf16 = 1u << 22, avx512_fp16 = 1u << 23, amx_tile = 1u << 24;
constexpr std::uint32_t avx512_bf16 = 1u << 5;

X86Registers haswell() {
  X86Registers registers;
  registers.leaf1_ecx = fma | osxsave | avx | f16c;
  registers.leaf7_ebx = avx2;
  registers.xcr0 = ymm_state;
  return registers;
}

X86Registers skylake_server() {
  X86Registers registers = haswell();
  registers.leaf7_ebx |= avx512f | avx512dq | avx512bw | avx512vl;
  registers.xcr0 = zmm_state;
  return registers;
}

X86Registers sapphire_rapids() {
  X86Registers registers = skylake_server();
  registers.leaf7_edx = amx_bf16 | amx_tile | avx512_fp16;
  registers.leaf7_1_eax = avx512_bf16;
  registers.xcr0 = zmm_state | tile_state;
  return registers;
}

constexpr CpuFeatures of_haswell = feature::avx2 | feature::fma | feature::f16c;
constexpr CpuFeatures of_skylake_server =
    of_haswell | feature::avx512f | feature::avx512bw | feature::avx512dq | feature::avx512vl;
constexpr CpuFeatures of_sapphire_rapids = of_skylake_server | feature::avx512_bf16 |
                                           feature::avx512_fp16 | feature::amx_tile |
                                           feature::amx_bf16;

TEST(CpuFeatures, of_a_cpu_without_avx_are_none) {
  EXPECT_EQ(decode_x86_features({}), 0u);
  X86Registers nehalem;
  nehalem.leaf1_ecx = 1u << 20; // SSE4.2
  EXPECT_EQ(decode_x86_features(nehalem), 0u);
}

TEST(CpuFeatures, of_known_cpus_are_decoded) {
  EXPECT_EQ(decode_x86_features(haswell()), of_haswell);
  EXPECT_EQ(decode_x86_features(skylake_server()), of_skylake_server);
  EXPECT_EQ(decode_x86_features(sapphire_rapids()), of_sapphire_rapids);
}

TEST(CpuFeatures, count_only_if_the_system_saves_their_registers) {
  X86Registers registers = sapphire_rapids();
  registers.xcr0 = sse_state;
  EXPECT_EQ(decode_x86_features(registers), 0u);
  registers.xcr0 = ymm_state;
  EXPECT_EQ(decode_x86_features(registers), of_haswell);
  registers.xcr0 = zmm_state;
  EXPECT_EQ(decode_x86_features(registers),
            of_sapphire_rapids & ~(feature::amx_tile | feature::amx_bf16));
  registers.xcr0 = 0x26 | 0x40; // opmask and the low halves, but not the upper 16 registers
  EXPECT_EQ(decode_x86_features(registers), of_haswell);
}

TEST(CpuFeatures, are_decoded_bit_by_bit) {
  X86Registers registers = skylake_server();
  registers.leaf7_ebx &= ~avx512bw;
  EXPECT_EQ(decode_x86_features(registers), of_skylake_server & ~feature::avx512bw);
  registers = skylake_server();
  registers.leaf1_ecx &= ~fma;
  EXPECT_EQ(decode_x86_features(registers), of_skylake_server & ~feature::fma);
  registers = skylake_server();
  registers.leaf7_ebx &= ~avx2;
  EXPECT_EQ(decode_x86_features(registers), of_skylake_server & ~feature::avx2);
}

TEST(CpuFeatures, have_a_name_each) {
  CpuFeatures named = 0;
  for (const FeatureName& one : feature_names) {
    EXPECT_EQ(named & one.bit, 0u) << one.name;
    named |= one.bit;
  }
  EXPECT_EQ(of_sapphire_rapids & ~named, 0u);
  EXPECT_NE(named & feature::neon, 0u);
}

TEST(CpuFeatures, of_this_cpu_do_not_change) { EXPECT_EQ(cpu_features(), cpu_features()); }

#if defined(__aarch64__)
TEST(CpuFeatures, of_64_bit_arm_have_neon) { EXPECT_EQ(cpu_features(), feature::neon); }
#elif defined(__x86_64__)
TEST(CpuFeatures, of_this_cpu_are_what_the_compiler_finds) {
  EXPECT_EQ((cpu_features() & feature::avx2) != 0, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ((cpu_features() & feature::fma) != 0, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ((cpu_features() & feature::avx512f) != 0, __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ((cpu_features() & feature::avx512vl) != 0, __builtin_cpu_supports("avx512vl") != 0);
}
#endif

} // namespace
} // namespace simdattn::test
