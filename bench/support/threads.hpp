#pragma once
// The processors that OpenMP's threads run on.

namespace simdattn::bench {

/// Starts OpenMP's threads where OMP_PROC_BIND asks for pinned ones. A program of clang's has two
/// OpenMPs, its own and oneDNN's from GCC, which pins the main thread before main() begins; the
/// other one, which starts later, would take that thread's processor for the only one there is.
void start_threads();

} // namespace simdattn::bench
