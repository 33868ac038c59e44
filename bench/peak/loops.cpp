// Compiled once for each instruction set; SIMDATTN_PEAK_LOOPS is the name of the table it exports.

#include "loops.hpp"

#include "kernels/unroll.hpp"

namespace simdattn::peak {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif
#if defined(__FMA__) || defined(__aarch64__)
constexpr bool has_fma = true;
#else
constexpr bool has_fma = false;
#endif

// Chains of dependent operations that run side by side. Latency × throughput asks for 8 on x86 and
// 16 on large Arm cores; two more registers hold the constants. Without FMA half of the chains
// multiply and half add.
#if defined(__aarch64__)
constexpr int chains = 20;
#else
constexpr int chains = 12;
#endif

using Floats = float __attribute__((vector_size(vector_bytes)));
using Words = std::uint64_t __attribute__((vector_size(vector_bytes)));
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(float));
constexpr double operations = chains * (has_fma ? 2.0 : 1.0);

// Says that `vector` is needed, in a register, and may have changed.
#if defined(__aarch64__)
#define SIMDATTN_KEEP(vector) asm volatile("" : "+w"(vector))
#else
#define SIMDATTN_KEEP(vector) asm volatile("" : "+v"(vector))
#endif

void fma(std::int64_t iterations) {
  // Sums stay small: nothing overflows, and nothing turns denormal.
  Floats factor = Floats{} + 0.5f, term = Floats{} + 1.0f;
  SIMDATTN_KEEP(term);
  Floats sums[chains] = {};
  for (std::int64_t i = 0; i < iterations; ++i) {
    kernels::unroll<chains>([&](auto chain) __attribute__((always_inline)) {
      Floats &sum = sums[chain], &multiplier = factor;
      SIMDATTN_KEEP(multiplier); // or one product would serve every sum
      if constexpr (has_fma) {
        sum += multiplier * term;
      } else if constexpr (chain % 2 == 0) {
        sum *= term;
      } else {
        sum += multiplier;
      }
      SIMDATTN_KEEP(sum);
    });
  }
}

void read(const void* data, std::int64_t bytes) {
  const auto* source = static_cast<const char*>(data);
  constexpr int loads = 8;
  Words found[loads] = {};
  std::int64_t offset = 0;
  for (; offset + loads * vector_bytes <= bytes; offset += loads * vector_bytes) {
    kernels::unroll<loads>([&](auto i) __attribute__((always_inline)) {
      Words words;
      __builtin_memcpy(&words, source + offset + i * vector_bytes, sizeof words);
      found[i] |= words;
    });
  }
  for (; offset < bytes; ++offset)
    found[0][0] |= static_cast<unsigned char>(source[offset]);
  for (Words& words : found)
    SIMDATTN_KEEP(words);
}

} // namespace

extern constinit const Loops SIMDATTN_PEAK_LOOPS = {operations * lanes, fma, read};

} // namespace simdattn::peak
