#pragma once
// The loops that the machine's limits are measured with: one set for each instruction set, each in
// a unit of its own flags. Like the kernels they are plain data that shares no function.

#include <cstdint>

namespace simdattn::peak {

/// One instruction set's loops.
struct Loops {
  double flops_per_iteration; ///< multiplications and additions of `fma`
  /// Multiplies and adds in registers only, as fast as the processor can.
  void (*fma)(std::int64_t iterations);
  /// Loads every byte of a buffer once, in order.
  void (*read)(const void* data, std::int64_t bytes);
};

#define SIMDATTN_ISA(name) extern constinit const Loops loops_##name;
#include "arch/isa_list.def"

} // namespace simdattn::peak
