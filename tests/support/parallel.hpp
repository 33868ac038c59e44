#pragma once
// Ways to run the tasks of a call other than OpenMP: what an engine with its own threads would hand
// in.

#include "simdattn/attention.hpp"

namespace simdattn::test {

/// Every body on a thread of its own, all at once. Plain std::thread, so that ThreadSanitizer
/// understands it.
ParallelFor on_threads() noexcept;
/// One body after the other on this thread, the last worker first.
ParallelFor one_by_one() noexcept;

} // namespace simdattn::test
