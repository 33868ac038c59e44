#pragma once
// Runs a plan: the only place that knows threads.

#include "kernel_table.hpp"
#include "plan.hpp"
#include "problem.hpp"

#include <cstddef>

namespace simdattn {

/// How many threads a call may use: the context's wish, or the default that attention.hpp
/// describes.
int thread_limit(const Context& context) noexcept;

/// One entry of a kernel table, by its member.
using KernelEntry = void (*KernelTable::*)(const AttentionBlock&);

/// Runs an entry of the table on every task of the plan. `scratch` has workspace_bytes of the plan,
/// aligned.
void execute(const Problem& problem, const Plan& plan, const KernelTable& table, KernelEntry entry,
             std::byte* scratch, const ParallelFor& parallel_for) noexcept;

} // namespace simdattn
