#pragma once
// What this machine can do at most: the ceiling that every figure is compared with.

#include <cstddef>

namespace simdattn::peak {

/// Whether there are loops for the implementation of that name and this CPU runs them.
bool available(const char* isa) noexcept;

/// Multiplications and additions per second, in 1e9, of fused multiply-adds in registers, with the
/// vectors of implementation `isa`, over `threads` OpenMP threads at once. Where the instruction
/// set has no FMA, multiplications and additions side by side.
///
/// Takes about `seconds`. The clock moves within milliseconds, so sample right after the work that
/// the figure belongs to. Each thread reports the median of many short runs, so that being
/// interrupted does not lower it; use no more threads than cores. 0 when not available().
double fma_gflops(const char* isa, int threads, double seconds = 1e-3);

/// Bytes per second, in 1e9, that `threads` OpenMP threads read from `data`, each its part in order
/// and again and again. The size decides whether caches or memory are measured. Takes about
/// `seconds`, three times reading each part at least. 0 when not available().
double read_gigabytes_per_second(const char* isa, const void* data, std::size_t bytes, int threads,
                                 double seconds = 1e-2);

} // namespace simdattn::peak
