#include "cpu_features.hpp"

#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace simdattn {
namespace {

bool bit(std::uint32_t word, int index) { return (word >> index & 1) != 0; }

#if defined(__x86_64__)
X86Registers read_x86_registers() noexcept {
  X86Registers registers;
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) registers.leaf1_ecx = ecx;
  std::uint32_t highest_subleaf = 0;
  if (__get_cpuid_count(7, 0, &highest_subleaf, &ebx, &ecx, &edx) != 0) {
    registers.leaf7_ebx = ebx;
    registers.leaf7_edx = edx;
    if (highest_subleaf >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0)
      registers.leaf7_1_eax = eax;
  }
  if (bit(registers.leaf1_ecx, 27)) { // OSXSAVE
    std::uint32_t low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    registers.xcr0 = static_cast<std::uint64_t>(high) << 32 | low;
  }
  return registers;
}
#endif

CpuFeatures detect() noexcept {
#if defined(__x86_64__)
  return decode_x86_features(read_x86_registers());
#elif defined(__aarch64__)
  return feature::neon; // part of the architecture
#else
  return 0;
#endif
}

std::size_t configured([[maybe_unused]] int name) noexcept {
  const long value = sysconf(name);
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

} // namespace

CpuFeatures decode_x86_features(const X86Registers& registers) noexcept {
  constexpr std::uint64_t ymm_state = 0x6, zmm_state = 0xe6, tile_state = 0x60000;
  const auto saves = [&](std::uint64_t state) { return (registers.xcr0 & state) == state; };
  CpuFeatures features = 0;
  const auto add = [&](bool present, CpuFeatures name) { features |= present ? name : 0; };
  if (saves(ymm_state) && bit(registers.leaf1_ecx, 28)) { // AVX
    add(bit(registers.leaf7_ebx, 5), feature::avx2);
    add(bit(registers.leaf1_ecx, 12), feature::fma);
    add(bit(registers.leaf1_ecx, 29), feature::f16c);
  }
  if (saves(zmm_state) && bit(registers.leaf7_ebx, 16)) {
    add(true, feature::avx512f);
    add(bit(registers.leaf7_ebx, 30), feature::avx512bw);
    add(bit(registers.leaf7_ebx, 17), feature::avx512dq);
    add(bit(registers.leaf7_ebx, 31), feature::avx512vl);
    add(bit(registers.leaf7_1_eax, 5), feature::avx512_bf16);
    add(bit(registers.leaf7_edx, 23), feature::avx512_fp16);
  }
  if (saves(tile_state) && bit(registers.leaf7_edx, 24)) {
    add(true, feature::amx_tile);
    add(bit(registers.leaf7_edx, 22), feature::amx_bf16);
  }
  return features;
}

CpuFeatures cpu_features() noexcept {
  static const CpuFeatures features = detect();
  return features;
}

CacheSizes cache_sizes() noexcept {
  static const CacheSizes sizes{configured(_SC_LEVEL1_DCACHE_SIZE),
                                configured(_SC_LEVEL2_CACHE_SIZE),
                                configured(_SC_LEVEL3_CACHE_SIZE)};
  return sizes;
}

} // namespace simdattn
