#include "run.hpp"

#include <cstdio>
#include <unistd.h>

namespace simdattn::bench {

std::vector<int> thread_counts() {
#ifdef _OPENMP
  if (sysconf(_SC_NPROCESSORS_ONLN) > 1) return {1, 2};
#endif
  return {1};
}

std::string base_label(double most, const std::string& base) {
  char limit[32] = "";
  if (most > 0) std::snprintf(limit, sizeof limit, "at most %g ", most);
  return limit + ("of " + base);
}

void run_measured(benchmark::State& state, const std::function<Status()>& call,
                  const peak::Work& work, double elements) {
  constexpr double seconds = 0.1;
  for (auto _ : state) {
    peak::Figure figure;
    if (const Status status = peak::measure(call, work, seconds, &figure); !status.ok()) {
      state.SkipWithError(status.message());
      return;
    }
    state.SetIterationTime(figure.seconds);
    if (work.flops > 0) {
      state.counters["GFLOP/s"] = figure.gflops;
      state.counters["peak_GFLOP/s"] = figure.peak_gflops;
      state.counters["peak_percent"] = figure.percent_of_peak;
    }
    if (work.read_data != nullptr) {
      state.counters["read_GB/s"] = figure.read_gigabytes;
      state.counters["read_percent"] = figure.percent_of_read;
    }
    if (work.base) {
      state.counters["base_us"] = 1e6 * figure.base_seconds;
      state.counters["times_base"] = figure.times_base;
    }
    state.counters["disturbed"] = figure.disturbed;
    if (elements > 0) state.counters["elements/s"] = elements / figure.seconds;
  }
}

} // namespace simdattn::bench
