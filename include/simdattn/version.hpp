#pragma once
/// @file
/// The library's version.

#define SIMDATTN_VERSION_MAJOR 0 ///< of the headers
#define SIMDATTN_VERSION_MINOR 1 ///< of the headers
#define SIMDATTN_VERSION_PATCH 0 ///< of the headers

#include "simdattn/export.hpp"

namespace simdattn {

/// The version of the library that is linked, as "major.minor.patch". The macros above are those of
/// the headers, so a program can tell the two apart.
SIMDATTN_API const char* version() noexcept;

} // namespace simdattn
