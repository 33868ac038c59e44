#pragma once
// The line that SIMDATTN_VERBOSE=1 asks for.

#include "dispatch.hpp"
#include "plan.hpp"

namespace simdattn {

/// Whether the environment asks for a line; read once.
bool verbose() noexcept;

/// Seconds of a steady clock.
double seconds_now() noexcept;

/// Prints one line about a finished call to stderr.
void print_call(const char* call, const Problem& problem, const KernelTable& table,
                const Plan& plan, double seconds) noexcept;

} // namespace simdattn
