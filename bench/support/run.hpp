#pragma once
// From a measurement to Google Benchmark's counters.

#include "implementations.hpp"
#include "peak/measure.hpp"

#include <benchmark/benchmark.h>
#include <functional>
#include <string>
#include <vector>

namespace simdattn::bench {

/// How many threads to measure with: 1, and 2 where there are two processors and OpenMP.
std::vector<int> thread_counts();

/// One repetition: measures `call` and reports the time of one call and, where the work has
/// arithmetic to count, GFLOP/s, the FMA peak beside it and the share of the peak; where reading
/// may be the limit, the same of that; where `elements` are counted instead, those per second.
void run_measured(benchmark::State& state, const std::function<Status()>& call,
                  const peak::Work& work, double elements = 0);

/// What tools/base_ratios.py reads in a benchmark's label: what the base is, and how many times its
/// time the call may take; 0: no limit is set.
std::string base_label(double most, const std::string& base);

/// A benchmark whose repetition is one iteration that measures by itself. `name` ends with
/// "/threads:N".
template <class Body>
void add_benchmark(const std::string& name, const Body& body) {
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

void add_peak_benchmarks();
#ifdef SIMDATTN_BENCH_KERNELS // a shared library hides what they call
void add_kernel_benchmarks();
void add_block_benchmarks();
#endif
void add_attention_benchmarks();
void add_option_benchmarks();
void add_tiny_benchmarks();

} // namespace simdattn::bench
