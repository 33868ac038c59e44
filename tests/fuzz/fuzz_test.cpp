// Random calls over the whole parameter space, against the oracle. The environment asks for more:
// SIMDATTN_FUZZ_CASES is how many, SIMDATTN_FUZZ_SEED which.

#include "differential/trial.hpp"
#include "dispatch.hpp"
#include "support/effort.hpp"
#include "support/implementations.hpp"

#include <cstdint>
#include <cstdlib>
#include <gmock/gmock.h>
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

// A kernel that is slightly wrong: the tester must find it.
void fused_with_wrong_scale(const AttentionBlock& block) {
  AttentionBlock wrong = block;
  wrong.scale *= 1.001f;
  find_implementation("scalar")->table->fused(wrong);
}

TEST(FuzzItself, FindsAWrongKernelAndSaysHowToRepeatTheCase) {
  KernelTable table = *find_implementation("scalar")->table;
  table.name = "wrong";
  table.fused = fused_with_wrong_scale;
  const Implementation wrong(table);
  const Report report =
      differential::run_trials(7, 50, {&wrong}, [](const Report&) { return true; });
  ASSERT_GT(report.failures, 5u);
  EXPECT_EQ(report.first_failures.size(), 5u);
  EXPECT_THAT(report.first_failures[0],
              ::testing::AllOf(
                  ::testing::HasSubstr("elements of output are wrong"),
                  ::testing::ContainsRegex("simdattn check --seed 7 --case [0-9]+ --isa wrong$")));
}

TEST(FuzzItself, ACaseIsTheSameEveryTime) {
  EXPECT_EQ(differential::Trial(3, 17).describe(), differential::Trial(3, 17).describe());
  EXPECT_NE(differential::Trial(3, 17).describe(), differential::Trial(3, 18).describe());
  EXPECT_NE(differential::Trial(3, 17).describe(), differential::Trial(4, 17).describe());
}

} // namespace
} // namespace simdattn::test
