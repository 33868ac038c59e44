#include "measure.hpp"

#include "median.hpp"
#include "peak.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace simdattn::peak {
namespace {

constexpr double slice_seconds = 10e-3;
constexpr double warm_up_seconds = 2e-3;

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
  double slice = 0;
  if (Status status = choose_slice(call, &calls, &slice); !status.ok()) return status;
  const auto slices = std::max<std::size_t>(1, static_cast<std::size_t>(seconds / slice));
  std::vector<double> times, peaks, percents;
  for (std::size_t i = 0; i < slices; ++i) {
    if (Status status = time_calls(call, calls, &slice); !status.ok()) return status;
    const double peak = fma_gflops(work.isa, work.threads, std::max(1e-3, slice / 20));
    const double time = slice / static_cast<double>(calls);
    times.push_back(time);
    peaks.push_back(peak);
    percents.push_back(peak > 0 ? 100 * work.flops / time / (peak * 1e9) : 0);
  }
  figure->seconds = median(times);
  figure->gflops = 1e-9 * work.flops / figure->seconds;
  figure->peak_gflops = median(peaks);
  figure->percent_of_peak = median(percents);
  return {};
}

} // namespace simdattn::peak
