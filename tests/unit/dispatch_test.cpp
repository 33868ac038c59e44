// Choosing an implementation.

#include "dispatch.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace simdattn::test {
namespace {

KernelTable named(const char* name, CpuFeatures required) {
  KernelTable table = *find_implementation("scalar")->table;
  table.name = name;
  table.required = required;
  return table;
}

// A table of each kind that x86 has, best first, as the library lists them.
class Fault30_best_implementation : public ::testing::Test {
protected:
  const char* best(CpuFeatures features) const {
    const Implementation* found = best_implementation(implementations_, 3, features);
    return found == nullptr ? "none" : implementation_name(found);
  }

private:
  static constexpr CpuFeatures for_avx2 = feature::avx2 | feature::fma;
  static constexpr CpuFeatures for_avx512 =
      for_avx2 | feature::avx512f | feature::avx512bw | feature::avx512dq | feature::avx512vl;
  const KernelTable tables_[3] = {named("avx512", for_avx512), named("avx2", for_avx2),
                                  named("scalar", 0)};
  const Implementation implementations_[3] = {
      Implementation(tables_[0]), Implementation(tables_[1]), Implementation(tables_[2])};
};

constexpr CpuFeatures avx2_cpu = feature::avx2 | feature::fma | feature::f16c;
constexpr CpuFeatures avx512_cpu =
    avx2_cpu | feature::avx512f | feature::avx512bw | feature::avx512dq | feature::avx512vl;

TEST_F(Fault30_best_implementation, is_the_first_whose_features_are_all_there) {
  EXPECT_STREQ(best(0), "scalar");
  EXPECT_STREQ(best(avx2_cpu), "avx2");
  EXPECT_STREQ(best(avx512_cpu), "avx512");
  EXPECT_STREQ(best(avx512_cpu | feature::amx_tile | feature::avx512_fp16), "avx512");
}

TEST_F(Fault30_best_implementation, needs_no_feature_that_it_does_not_use) {
  EXPECT_STREQ(best(feature::avx2 | feature::fma), "avx2");
  EXPECT_STREQ(best(avx512_cpu & ~feature::f16c), "avx512");
}

TEST_F(Fault30_best_implementation, is_the_next_when_one_feature_is_missing) {
  for (const CpuFeatures missing :
       {feature::avx512f, feature::avx512bw, feature::avx512dq, feature::avx512vl})
    EXPECT_STREQ(best(avx512_cpu & ~missing), "avx2");
  for (const CpuFeatures missing : {feature::avx2, feature::fma})
    EXPECT_STREQ(best(avx2_cpu & ~missing), "scalar");
}

// The library's own list, whose tables say what they need.
TEST_F(Fault30_best_implementation,
       of_the_library_is_found_for_each_set_of_features_it_was_built_for) {
  const Implementation* list = implementation_at(0);
  const int count = implementation_count();
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(best_implementation(list, count, implementation_at(i)->table->required),
              implementation_at(i))
        << implementation_name(implementation_at(i));
  EXPECT_STREQ(implementation_name(best_implementation(list, count, 0)), "scalar");
  EXPECT_EQ(best_implementation(list, 0, ~CpuFeatures{0}), nullptr);
}

#if defined(__x86_64__)
TEST_F(Fault30_best_implementation, of_the_library_asks_for_what_its_compiler_flags_use) {
  EXPECT_EQ(find_implementation("avx2")->table->required, feature::avx2 | feature::fma);
  EXPECT_EQ(find_implementation("avx512")->table->required, avx512_cpu & ~feature::f16c);
  EXPECT_EQ(find_implementation("scalar")->table->required, 0u);
}
#endif

TEST(Dispatch, lists_every_implementation_once_with_the_portable_one_last) {
  std::set<std::string> names;
  for (int i = 0; i < implementation_count(); ++i) {
    const char* name = implementation_name(implementation_at(i));
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(find_implementation(name), implementation_at(i));
  }
  EXPECT_STREQ(implementation_name(implementation_at(implementation_count() - 1)), "scalar");
  EXPECT_TRUE(implementation_supported(find_implementation("scalar")));
}

TEST(Dispatch, finds_nothing_outside_its_list) {
  EXPECT_EQ(implementation_at(-1), nullptr);
  EXPECT_EQ(implementation_at(implementation_count()), nullptr);
  EXPECT_EQ(find_implementation("AVX2"), nullptr);
  EXPECT_EQ(find_implementation(""), nullptr);
  EXPECT_EQ(find_implementation(nullptr), nullptr);
  EXPECT_FALSE(implementation_supported(nullptr));
}

TEST(Dispatch, supports_what_the_features_of_this_cpu_allow) {
  for (const Implementation* implementation : every_implementation())
    EXPECT_EQ(implementation_supported(implementation),
              (implementation->table->required & ~cpu_features()) == 0);
}

class Choice : public ::testing::Test {
protected:
  ~Choice() override { EXPECT_OK(set_implementation(nullptr)); }

  static const Implementation* active() {
    const Implementation* found = nullptr;
    EXPECT_OK(active_implementation(&found));
    return found;
  }
};

TEST_F(Choice, is_the_best_that_this_cpu_supports) {
  EXPECT_EQ(active(), supported_implementations().front());
}

TEST_F(Choice, is_the_one_that_was_set_until_that_is_taken_back) {
  const Implementation* best = active();
  for (const Implementation* implementation : supported_implementations()) {
    ASSERT_OK(set_implementation(implementation));
    EXPECT_EQ(active(), implementation);
  }
  ASSERT_OK(set_implementation(nullptr));
  EXPECT_EQ(active(), best);
}

TEST_F(Choice, of_a_context_goes_before_the_one_that_was_set) {
  const std::vector<const Implementation*> supported = supported_implementations();
  ASSERT_OK(set_implementation(supported.front()));
  const Implementation* chosen = nullptr;
  ASSERT_OK(choose_implementation(supported.back(), &chosen));
  EXPECT_EQ(chosen, supported.back());
}

TEST_F(Choice, cannot_be_written_to_nowhere) {
  EXPECT_THAT(
      active_implementation(nullptr),
      IsError(StatusCode::invalid_argument, ::testing::HasSubstr("implementation is nullptr")));
}

} // namespace
} // namespace simdattn::test
