#pragma once
// How fast each implementation is on this machine.

namespace simdattn::command {

/// Prints time, GFLOP/s and % of peak on two models' shapes, for every implementation that this CPU
/// supports and for what it is compared with. `threads`: as in Context.
void print_speed_tables(int threads);

} // namespace simdattn::command
