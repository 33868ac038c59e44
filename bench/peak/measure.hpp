#pragma once
// How fast a call is, and how close to the machine's limit.

#include "simdattn/attention.hpp"

#include <cstddef>
#include <functional>

namespace simdattn::peak {

/// The arithmetic that softmax(scale · Q Kᵀ) V needs: a multiplication and an addition for each
/// visible pair of a query and a key and each of the D + Dv dims. The softmax is not counted.
double attention_flops(const AttentionTensors& tensors, const AttentionOptions& options) noexcept;

/// What a figure is about.
struct Work {
  double flops = 0;                ///< of one call
  const char* isa = "scalar";      ///< the implementation whose FMA peak is the limit
  int threads = 1;                 ///< that the call runs on
  const void* read_data = nullptr; ///< where reading may be the limit: what each call must read
  std::size_t read_bytes = 0;
  std::function<Status()> base = {}; ///< optional: another call to compare with
};

/// Medians over slices.
struct Figure {
  double seconds = 0; ///< of one call
  double gflops = 0;
  double peak_gflops = 0;
  double percent_of_peak = 0; ///< each slice against the peak right after it
  double read_gigabytes = 0;  ///< per second, of Work::read_data
  double percent_of_read = 0; ///< each slice against reading the same memory right after it
  double base_seconds = 0;    ///< of one call of the base
  double times_base = 0;      ///< each slice's time against that of the base's right after it
  int slices = 0;             ///< that the medians are over
  bool disturbed = false;     ///< whether the system interrupted threads in these slices
};

/// Repeats `call` for about `seconds`, in slices of 2 ms or of one call where that takes longer.
/// Right after each slice the FMA peak is sampled on the same threads, for 1 ms or for a twentieth
/// of the slice, so that both see the same clock; then, where it matters, how fast memory is read.
/// Calls before the first slice warm up.
///
/// A base runs in slices of its own between those of the call: a machine that others use too
/// may change from one second to the next, and both see the same of it.
///
/// Slices in which the system took a processor from one of our threads don't count, and others are
/// tried instead, for at most four times as long; when none is undisturbed, all count.
/// Returns the first error of a call.
Status measure(const std::function<Status()>& call, const Work& work, double seconds,
               Figure* figure);

} // namespace simdattn::peak
