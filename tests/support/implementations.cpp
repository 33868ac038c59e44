#include "implementations.hpp"

#include "dispatch.hpp"

#include <algorithm>

namespace simdattn {
extern const KernelTable kernel_table_odd_tiles;
}

namespace simdattn::test {
namespace {

constinit const Implementation odd_implementation(kernel_table_odd_tiles);

} // namespace

std::vector<const Implementation*> every_implementation() {
  std::vector<const Implementation*> all;
  for (int i = 0; i < implementation_count(); ++i)
    all.push_back(implementation_at(i));
  all.push_back(&odd_implementation);
  return all;
}

std::vector<const Implementation*> supported_implementations() {
  std::vector<const Implementation*> supported = every_implementation();
  std::erase_if(supported,
                [](const Implementation* one) { return !implementation_supported(one); });
  return supported;
}

void skip_where_unsupported(const Implementation* implementation) {
  if (!implementation_supported(implementation))
    GTEST_SKIP() << "this CPU can't run " << implementation_name(implementation);
}

void ImplementationTest::SetUp() { skip_where_unsupported(implementation()); }

} // namespace simdattn::test
