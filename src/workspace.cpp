#include "workspace.hpp"

#include "plan.hpp"

#include <cstdint>
#include <cstdlib>

namespace simdattn {

Workspace::~Workspace() { std::free(owned_); }

Status Workspace::acquire(const Context& context, std::size_t bytes) noexcept {
  void* memory = context.workspace;
  if (memory == nullptr) {
    memory = owned_ = std::malloc(bytes);
    if (memory == nullptr) {
      return Status::error(StatusCode::out_of_memory,
                           "workspace: allocating %zu bytes failed; give one in context.workspace",
                           bytes);
    }
  } else if (context.workspace_bytes < bytes) {
    return Status::error(
        StatusCode::workspace_too_small,
        "context.workspace_bytes is %zu; it must be at least %zu, as workspace_size() says",
        context.workspace_bytes, bytes);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t aligned =
      (address + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
  data_ = static_cast<std::byte*>(memory) + (aligned - address);
  return {};
}

} // namespace simdattn
