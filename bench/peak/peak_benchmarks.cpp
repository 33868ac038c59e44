// The machine's limits as benchmarks of their own.

#include "peak.hpp"
#include "support/buffer.hpp"
#include "support/run.hpp"

#include <algorithm>

namespace simdattn::bench {
namespace {

void run_fma(benchmark::State& state, const char* isa, int threads) {
  for (auto _ : state) {
    constexpr double seconds = 20e-3;
    state.SetIterationTime(seconds);
    state.counters["GFLOP/s"] = peak::fma_gflops(isa, threads, seconds);
  }
}

void run_read(benchmark::State& state, const char* isa, std::int64_t bytes, int threads) {
  Buffer buffer(bytes / static_cast<std::int64_t>(sizeof(float)));
  std::fill_n(buffer.data(), buffer.count(), 1.0f);
  for (auto _ : state) {
    constexpr double seconds = 50e-3;
    state.SetIterationTime(seconds);
    state.counters["GB/s"] = peak::read_gigabytes_per_second(
        isa, buffer.data(), static_cast<std::size_t>(bytes), threads, seconds);
  }
}

/// In L1, in L2, in L3 of most machines, in memory.
struct Size {
  const char* name;
  std::int64_t bytes;
};
constexpr Size sizes[] = {
    {"16KiB", 16 << 10}, {"256KiB", 256 << 10}, {"4MiB", 4 << 20}, {"256MiB", 256 << 20}};

} // namespace

void add_peak_benchmarks() {
  for (const char* isa : supported_implementations()) {
    for (const int threads : thread_counts()) {
      const std::string end = std::string("/") + isa + "/threads:" + std::to_string(threads);
      add_benchmark("peak/fma" + end,
                    [=](benchmark::State& state) { run_fma(state, isa, threads); });
      for (const Size& size : sizes) {
        add_benchmark(
            std::string("peak/read_") + size.name + end,
            [=, &size](benchmark::State& state) { run_read(state, isa, size.bytes, threads); });
      }
    }
  }
}

} // namespace simdattn::bench
