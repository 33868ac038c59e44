#include "simdattn/attention.hpp"

#include "plan.hpp"
#include "run_call.hpp"
#include "validate.hpp"

namespace simdattn {

Status scaled_dot_product_attention(const AttentionTensors& tensors,
                                    const AttentionOptions& options,
                                    const Context& context) noexcept {
  Problem problem;
  if (Status status = validate_attention(tensors, options, &problem); !status.ok()) return status;
  return run_call("attention", problem, &KernelTable::fused, context);
}

Status workspace_size(const AttentionTensors& tensors, const AttentionOptions& options,
                      const Context& context, std::size_t* bytes) noexcept {
  if (bytes == nullptr) {
    return Status::error(StatusCode::invalid_argument,
                         "bytes is nullptr; it must point to where to write");
  }
  Problem problem;
  if (Status status = validate_attention(tensors, options, &problem); !status.ok()) return status;
  const KernelTable* table = nullptr;
  Plan plan;
  if (Status status = plan_call(problem, context, &table, &plan); !status.ok()) return status;
  *bytes = problem.empty() ? 0 : plan.workspace_bytes;
  return {};
}

} // namespace simdattn
