// Random calls over the whole parameter space, against the oracle. The environment asks for more:
// SIMDATTN_FUZZ_CASES is how many, SIMDATTN_FUZZ_SEED which.

#include "differential/trial.hpp"
#include "support/effort.hpp"
#include "support/implementations.hpp"

#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>

namespace simdattn::test {
namespace {

using differential::Report;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

class Fuzz : public ImplementationTest {};
SIMDATTN_FOR_EACH_IMPLEMENTATION(Fuzz);

TEST_P(Fuzz, EveryCallIsWhatTheOracleSays) {
  const auto count =
      from_environment("SIMDATTN_FUZZ_CASES", static_cast<std::uint64_t>(effort(20'000, 300)));
  const Report report =
      differential::run_trials(from_environment("SIMDATTN_FUZZ_SEED", 1), count, {implementation()},
                               [](const Report& so_far) { return so_far.failures < 5; });
  for (const std::string& text : report.first_failures)
    ADD_FAILURE() << text;
  EXPECT_TRUE(report.failures > 0 || report.cases == count);
}

} // namespace
} // namespace simdattn::test
