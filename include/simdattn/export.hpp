#pragma once
/// @file
/// Marks what the shared library exports; everything else is hidden.

#if defined(__cplusplus) && (defined(__GNUC__) || defined(__clang__))
#define SIMDATTN_API [[gnu::visibility("default")]]
#elif defined(__GNUC__) || defined(__clang__)
#define SIMDATTN_API __attribute__((visibility("default")))
#else
#define SIMDATTN_API
#endif
