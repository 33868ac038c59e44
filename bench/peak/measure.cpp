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
  double base_seconds;
  double peak_gflops;
  double read_gigabytes;
  bool disturbed;
};

/// A call that is repeated, so many times in each slice.
struct Repeated {
  const std::function<Status()>& call;
  std::int64_t count = 1;
  bool is_short = false;

  /// One slice: how long one call took in it. Of short calls one more comes before it, or what ran
  /// until then would still be in the caches.
  Status time(double* seconds) const {
    if (is_short) {
      if (Status status = call(); !status.ok()) return status;
    }
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < count; ++i) {
      if (Status status = call(); !status.ok()) return status;
    }
    const auto end = std::chrono::steady_clock::now();
    *seconds = std::chrono::duration<double>(end - start).count() / static_cast<double>(count);
    return {};
  }

  /// Warms up, and finds how many calls make a slice.
  Status choose_count() {
    double seconds = 0;
    for (;; count *= 2) {
      if (Status status = time(&seconds); !status.ok()) return status;
      if (seconds * static_cast<double>(count) >= warm_up_seconds) break;
    }
    count = std::max<std::int64_t>(1, static_cast<std::int64_t>(slice_seconds / seconds));
    is_short = seconds < slice_seconds;
    return {};
  }
};

/// What the machine can do right after calls that took `calls_seconds`.
void sample_limits(const Work& work, double calls_seconds, Slice* slice) {
  const double seconds = std::max(1e-3, calls_seconds / 20);
  slice->peak_gflops = fma_gflops(work.isa, work.threads, seconds);
  if (work.read_data != nullptr) {
    slice->read_gigabytes =
        read_gigabytes_per_second(work.isa, work.read_data, work.read_bytes, work.threads, seconds);
  }
}

/// One slice of the call, and the limits after it. With a base: call, base, base, call, so that
/// what sampling the limits leaves behind falls on both.
Status take_slice(const Repeated& repeated, const Repeated& base, const Work& work, Slice* slice) {
  const long before = interruptions();
  *slice = {};
  if (Status status = repeated.time(&slice->seconds); !status.ok()) return status;
  if (work.base) {
    double second = 0, base_second = 0;
    if (Status status = base.time(&slice->base_seconds); !status.ok()) return status;
    if (Status status = base.time(&base_second); !status.ok()) return status;
    if (Status status = repeated.time(&second); !status.ok()) return status;
    slice->seconds = (slice->seconds + second) / 2;
    slice->base_seconds = (slice->base_seconds + base_second) / 2;
  }
  slice->disturbed = interruptions() != before;
  sample_limits(work, slice->seconds * static_cast<double>(repeated.count), slice);
  return {};
}

Figure summarise(std::vector<Slice> slices, const Work& work) {
  Figure figure;
  const auto first_disturbed = std::partition(slices.begin(), slices.end(),
                                              [](const Slice& slice) { return !slice.disturbed; });
  figure.disturbed = first_disturbed == slices.begin();
  if (!figure.disturbed) slices.erase(first_disturbed, slices.end());
  const auto median_of = [&](const auto& value) {
    std::vector<double> values;
    values.reserve(slices.size());
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
  if (!work.base) return figure;
  figure.base_seconds = median_of([](const Slice& slice) { return slice.base_seconds; });
  figure.times_base =
      median_of([](const Slice& slice) { return slice.seconds / slice.base_seconds; });
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
  Repeated repeated{call}, base{work.base};
  if (Status status = repeated.choose_count(); !status.ok()) return status;
  if (work.base) {
    if (Status status = base.choose_count(); !status.ok()) return status;
  }
  std::vector<Slice> slices;
  const auto undisturbed = [](const Slice& slice) { return !slice.disturbed; };
  double spent = 0, wanted = 1;
  do {
    Slice slice;
    if (Status status = take_slice(repeated, base, work, &slice); !status.ok()) return status;
    const double taken = slice.seconds * static_cast<double>(repeated.count);
    if (slices.empty()) wanted = std::max(1.0, std::round(seconds / taken));
    slices.push_back(slice);
    spent += taken;
  } while (spent < 4 * seconds &&
           static_cast<double>(std::count_if(slices.begin(), slices.end(), undisturbed)) < wanted);
  *figure = summarise(slices, work);
  return {};
}

} // namespace simdattn::peak
