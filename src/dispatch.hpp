#pragma once
// Which implementation a call uses.

#include "kernel_table.hpp"
#include "simdattn/implementation.hpp"

namespace simdattn {

/// What the public name hides: a kernel table. Tests make their own.
class Implementation {
public:
  constexpr explicit Implementation(const KernelTable& kernel_table) noexcept
      : table(&kernel_table) {}
  const KernelTable* table;
};

/// The first of `implementations` (best first) whose features are all in `features`; nullptr when
/// there is none.
const Implementation* best_implementation(const Implementation* implementations, int count,
                                          CpuFeatures features) noexcept;

/// Finds the implementation of one call: `requested` (a Context's), else the one set, else the
/// environment's, else the best supported.
Status choose_implementation(const Implementation* requested,
                             const Implementation** chosen) noexcept;

} // namespace simdattn
