#include "loops.hpp"

#include <cstring>

namespace simdattn::bench {

#define SIMDATTN_ISA(name)                                                                         \
  extern constinit const LoopFunction plain_loops_##name, fast_loops_##name;
#include "arch/isa_list.def"

const Loops* find_loops(const char* isa) {
#define SIMDATTN_ISA(name)                                                                         \
  if (std::strcmp(isa, #name) == 0) {                                                              \
    static const Loops loops{plain_loops_##name, fast_loops_##name};                               \
    return &loops;                                                                                 \
  }
#include "arch/isa_list.def"
  return nullptr;
}

} // namespace simdattn::bench
