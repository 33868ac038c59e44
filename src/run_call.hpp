#pragma once
// What every public call does once its arguments are valid: dispatch → plan → workspace → execute.

#include "dispatch.hpp"
#include "execute.hpp"
#include "plan.hpp"
#include "problem.hpp"

namespace simdattn {

/// Finds the implementation and plans the call.
Status plan_call(const Problem& problem, const Context& context, const KernelTable** table,
                 Plan* plan) noexcept;

/// Runs one entry over the whole problem; `call` is the name that SIMDATTN_VERBOSE prints.
Status run_call(const char* call, const Problem& problem, KernelEntry entry,
                const Context& context) noexcept;

} // namespace simdattn
