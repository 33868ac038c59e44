#pragma once
// The memory of one call: the caller's, or an allocation of its own.

#include "simdattn/attention.hpp"

#include <cstddef>

namespace simdattn {

class Workspace {
public:
  Workspace() noexcept = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  /// Takes context.workspace, or allocates `bytes` where there is none.
  Status acquire(const Context& context, std::size_t bytes) noexcept;

  /// The memory, at the first address that is a multiple of scratch_alignment.
  std::byte* data() const noexcept { return data_; }

private:
  std::byte* data_ = nullptr;
  void* owned_ = nullptr;
};

} // namespace simdattn
