#pragma once
/// @file
/// Implementations by name: one for each instruction set that the library was built with.
///
/// A call uses, in this order: its Context's implementation; the one given to set_implementation();
/// the one that the environment variable SIMDATTN_ISA names; the best one that this CPU supports.
/// When SIMDATTN_ISA names one that is unknown or unsupported, every call that would have used it
/// returns an error that says so.

#include "simdattn/export.hpp"
#include "simdattn/status.hpp"

namespace simdattn {

/// One instruction set's kernels. Its objects live as long as the program; there is one for each
/// name.
class Implementation;

/// How many implementations the library was built with, supported by this CPU or not.
SIMDATTN_API int implementation_count() noexcept;
/// The implementation at `index`, best first; nullptr when `index` is not in [0,
/// implementation_count()).
SIMDATTN_API const Implementation* implementation_at(int index) noexcept;
/// The implementation called `name`; nullptr when there is none, or when `name` is nullptr.
SIMDATTN_API const Implementation* find_implementation(const char* name) noexcept;

/// Its name: "scalar", "avx2", "avx512", "neon".
SIMDATTN_API const char* implementation_name(const Implementation* implementation) noexcept;
/// Whether this CPU and its operating system can run it.
SIMDATTN_API bool implementation_supported(const Implementation* implementation) noexcept;

/// Makes `implementation` the one that calls without one in their Context use; nullptr takes that
/// back. Fails with unsupported_implementation, and changes nothing, when this CPU can't run it.
SIMDATTN_API Status set_implementation(const Implementation* implementation) noexcept;
/// Writes the implementation that a call without one in its Context uses now.
SIMDATTN_API Status active_implementation(const Implementation** implementation) noexcept;

} // namespace simdattn
