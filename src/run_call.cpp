#include "run_call.hpp"

#include "execute.hpp"
#include "validate.hpp"
#include "verbose.hpp"
#include "workspace.hpp"

namespace simdattn {

Status plan_call(const Problem& problem, const Context& context, const KernelTable** table,
                 Plan* plan) noexcept {
  if (Status status = validate_context(context); !status.ok()) return status;
  const Implementation* implementation = nullptr;
  if (Status status = choose_implementation(context.implementation, &implementation); !status.ok())
    return status;
  *table = implementation->table;
  *plan = make_plan(problem, implementation->table->tiles, cache_sizes(), thread_limit(context));
  return {};
}

Status run_call(const char* call, const Problem& problem, KernelEntry entry,
                const Context& context) noexcept {
  const double start = verbose() ? seconds_now() : 0.0;
  const KernelTable* table = nullptr;
  Plan plan;
  if (Status status = plan_call(problem, context, &table, &plan); !status.ok()) return status;
  if (problem.empty()) return {};
  Workspace workspace;
  if (Status status = workspace.acquire(context, plan.workspace_bytes); !status.ok()) return status;
  execute(problem, plan, *table, entry, workspace.data(), context.parallel_for);
  if (verbose()) print_call(call, problem, *table, plan, seconds_now() - start);
  return {};
}

} // namespace simdattn
