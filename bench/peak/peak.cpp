#include "peak.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "loops.hpp"
#include "median.hpp"
#include "simdattn/implementation.hpp"

namespace simdattn::peak {
namespace {

/// The loops of the implementation of that name; nullptr when there are none or they can't run
/// here.
const Loops* find_loops(const char* isa) {
  if (!implementation_supported(find_implementation(isa))) return nullptr;
#define SIMDATTN_ISA(name)                                                                         \
  if (std::strcmp(isa, #name) == 0) return &loops_##name;
#include "arch/isa_list.def"
  return nullptr;
}

/// Repeats `run` for `seconds`, `least_runs` times at least: the median of `amount` / time.
template <class Run>
double median_rate(double amount, double seconds, std::size_t least_runs, const Run& run) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> rates;
  const auto begin = Clock::now();
  for (auto start = begin; rates.size() < least_runs ||
                           std::chrono::duration<double>(start - begin).count() < seconds;) {
    run();
    const auto end = Clock::now();
    rates.push_back(amount / std::chrono::duration<double>(end - start).count());
    start = end;
  }
  return median(std::move(rates));
}

/// The sum of `rate_of(thread)` over threads that run at the same time.
template <class RateOf>
double sum_over_threads(int threads, const RateOf& rate_of) {
  double sum = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
#pragma omp barrier
    sum += rate_of(omp_get_thread_num());
  }
#else
  if (threads == 1) sum = rate_of(0);
#endif
  return sum;
}

} // namespace

bool available(const char* isa) noexcept { return find_loops(isa) != nullptr; }

double fma_gflops(const char* isa, int threads, double seconds) {
  const Loops* loops = find_loops(isa);
  if (loops == nullptr) return 0;
  // Some 30 µs: long against reading the clock, short against a scheduler's time slice.
  constexpr std::int64_t iterations = 16384;
  return 1e-9 * sum_over_threads(threads, [&](int) {
           return median_rate(loops->flops_per_iteration * iterations, seconds, 3,
                              [&] { loops->fma(iterations); });
         });
}

double read_gigabytes_per_second(const char* isa, const void* data, std::size_t bytes, int threads,
                                 double seconds) {
  const Loops* loops = find_loops(isa);
  if (loops == nullptr) return 0;
  // Each thread's part is read in pieces, each timed on its own: as for the FMA loop.
  constexpr std::size_t largest_piece = 1 << 20;
  const std::size_t part = bytes / static_cast<std::size_t>(threads);
  const std::size_t pieces = (part + largest_piece - 1) / largest_piece;
  const std::size_t piece = part / std::max<std::size_t>(pieces, 1);
  return 1e-9 * sum_over_threads(threads, [&](int thread) {
           const char* begin =
               static_cast<const char*>(data) + part * static_cast<std::size_t>(thread);
           std::size_t next = 0;
           return median_rate(static_cast<double>(piece), seconds, 3 * pieces, [&] {
             loops->read(begin + next * piece, static_cast<std::int64_t>(piece));
             next = (next + 1) % pieces;
           });
         });
}

} // namespace simdattn::peak
