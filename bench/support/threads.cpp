#include "threads.hpp"

#include <sched.h>

namespace simdattn::bench {
namespace {

cpu_set_t processors; // those of the main thread, before libraries are initialised

void remember_processors(int /*argc*/, char** /*argv*/, char** /*environment*/) {
  sched_getaffinity(0, sizeof processors, &processors);
}

[[gnu::section(".preinit_array"), gnu::used]] auto* const initialiser = &remember_processors;

} // namespace

void start_threads() {
  cpu_set_t bound;
  sched_getaffinity(0, sizeof bound, &bound);
  if (CPU_EQUAL(&bound, &processors) != 0) return;
  sched_setaffinity(0, sizeof processors, &processors);
#ifdef _OPENMP
#pragma omp parallel num_threads(CPU_COUNT(&processors))
  {
#pragma omp barrier
  }
#endif
  sched_setaffinity(0, sizeof bound, &bound);
}

} // namespace simdattn::bench
