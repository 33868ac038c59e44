#include "implementations.hpp"

#include "simdattn/implementation.hpp"

namespace simdattn::bench {

std::vector<const char*> supported_implementations() {
  std::vector<const char*> names;
  for (int i = 0; i < implementation_count(); ++i) {
    const Implementation* implementation = implementation_at(i);
    if (implementation_supported(implementation))
      names.push_back(implementation_name(implementation));
  }
  return names;
}

const char* best_implementation() { return supported_implementations().front(); }

} // namespace simdattn::bench
