#include "measure.hpp"

#include "median.hpp"
#include "peak.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace simdattn::peak {
namespace {

constexpr double slice_seconds = 2e-3;
constexpr double warm_up_seconds = 2e-3;

/// How often the system has taken a processor from a thread of this process.
long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

struct Slice {
  double seconds; ///< of one call
  double peak_gflops;
  double read_gigabytes;
  bool disturbed;
};

/// Runs `call` `count` times and writes how long all of them took.
Status time_calls(const std::function<Status()>& call, std::int64_t count, double* seconds) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < count; ++i) {
    if (Status status = call(); !status.ok()) return status;
  }
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {};
}

/// Warms up, and finds how many calls make a slice.
Status choose_slice(const std::function<Status()>& call, std::int64_t* count, double* seconds) {
  for (*count = 1;; *count *= 2) {
    if (Status status = time_calls(call, *count, seconds); !status.ok()) return status;
    if (*seconds >= warm_up_seconds) break;
  }
  const double per_call = *seconds / static_cast<double>(*count);
  *count = std::max<std::int64_t>(1, static_cast<std::int64_t>(slice_seconds / per_call));
  *seconds = per_call * static_cast<double>(*count);
  return {};
}

Slice sample_limits(const Work& work, double calls_seconds) {
  const double seconds = std::max(1e-3, calls_seconds / 20);
  Slice slice{};
  slice.peak_gflops = fma_gflops(work.isa, work.threads, seconds);
  if (work.read_data != nullptr) {
    slice.read_gigabytes =
        read_gigabytes_per_second(work.isa, work.read_data, work.read_bytes, work.threads, seconds);
  }
  return slice;
}

Figure summarise(std::vector<Slice> slices, const Work& work) {
  Figure figure;
  const auto first_disturbed = std::partition(slices.begin(), slices.end(),
                                              [](const Slice& slice) { return !slice.disturbed; });
  figure.disturbed = first_disturbed == slices.begin();
  if (!figure.disturbed) slices.erase(first_disturbed, slices.end());
  const auto median_of = [&](const auto& value) {
    std::vector<double> values;
    for (const Slice& slice : slices)
      values.push_back(value(slice));
    return median(std::move(values));
  };
  figure.slices = static_cast<int>(slices.size());
  figure.seconds = median_of([](const Slice& slice) { return slice.seconds; });
  figure.gflops = 1e-9 * work.flops / figure.seconds;
  figure.peak_gflops = median_of([](const Slice& slice) { return slice.peak_gflops; });
  figure.percent_of_peak = median_of([&](const Slice& slice) {
    return slice.peak_gflops > 0 ? 1e-7 * work.flops / (slice.seconds * slice.peak_gflops) : 0;
  });
  const auto bytes = static_cast<double>(work.read_bytes);
  figure.read_gigabytes = 1e-9 * bytes / figure.seconds;
  figure.percent_of_read = median_of([&](const Slice& slice) {
    return slice.read_gigabytes > 0 ? 1e-7 * bytes / (slice.seconds * slice.read_gigabytes) : 0;
  });
  return figure;
}

} // namespace

double attention_flops(const AttentionTensors& tensors, const AttentionOptions& options) noexcept {
  const std::int64_t queries = tensors.query.size[2], keys = tensors.key.size[2];
  const std::int64_t first_row_keys = options.causal == Causal::none           ? keys
                                      : options.causal == Causal::bottom_right ? keys - queries + 1
                                                                               : 1;
  double pairs = 0;
  for (std::int64_t i = 0; i < queries; ++i) {
    pairs += static_cast<double>(std::clamp<std::int64_t>(first_row_keys + i, 0, keys));
  }
  const auto heads = static_cast<double>(tensors.query.size[0] * tensors.query.size[1]);
  return 2 * pairs * heads * static_cast<double>(tensors.query.size[3] + tensors.value.size[3]);
}

Status measure(const std::function<Status()>& call, const Work& work, double seconds,
               Figure* figure) {
  std::int64_t calls = 0;
  double total = 0;
  if (Status status = choose_slice(call, &calls, &total); !status.ok()) return status;
  const auto wanted = std::max(1L, std::lround(seconds / total));
  std::vector<Slice> slices;
  const auto undisturbed = [](const Slice& slice) { return !slice.disturbed; };
  double spent = 0;
  do {
    const long before = interruptions();
    if (Status status = time_calls(call, calls, &total); !status.ok()) return status;
    const bool disturbed = interruptions() != before;
    slices.push_back(sample_limits(work, total));
    slices.back().seconds = total / static_cast<double>(calls);
    slices.back().disturbed = disturbed;
    spent += total;
  } while (spent < 4 * seconds &&
           std::count_if(slices.begin(), slices.end(), undisturbed) < wanted);
  *figure = summarise(slices, work);
  return {};
}

} // namespace simdattn::peak
