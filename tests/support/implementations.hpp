#pragma once
// Runs a test body once for every implementation that the library was built with, and for one that
// exists only here, with small odd tiles, so that small cases cross every boundary of the plan.

#include "simdattn/implementation.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace simdattn::test {

/// Every implementation of the library, best first, then the odd one.
std::vector<const Implementation*> every_implementation();
/// Those of them that this CPU runs.
std::vector<const Implementation*> supported_implementations();

/// Skips the running test, visibly, where the CPU can't run `implementation`. For SetUp().
void skip_where_unsupported(const Implementation* implementation);

/// A test of one implementation, which is the parameter. Skipped, visibly, where the CPU can't run
/// it.
class ImplementationTest : public ::testing::TestWithParam<const Implementation*> {
protected:
  void SetUp() override;
  const Implementation* implementation() const { return GetParam(); }
};

inline std::string
implementation_test_name(const ::testing::TestParamInfo<const Implementation*>& info) {
  return implementation_name(info.param);
}

} // namespace simdattn::test

/// Instantiates a suite whose parameter is an implementation, as of those derived from
/// ImplementationTest: its tests are called On/Suite.test/avx2 and so on.
#define SIMDATTN_FOR_EACH_IMPLEMENTATION(Suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(On, Suite,                                                              \
                           ::testing::ValuesIn(::simdattn::test::every_implementation()),          \
                           ::simdattn::test::implementation_test_name)
