#pragma once

#include <vector>

namespace simdattn::bench {

/// The implementations that this CPU runs, best first.
std::vector<const char*> supported_implementations();
/// The best of them: whose peak is the limit of contenders from outside.
const char* best_implementation();

} // namespace simdattn::bench
