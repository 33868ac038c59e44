// The tests' own tools: a comparison that lets NaN pass would let every fault pass.

#include "support/comparison.hpp"
#include "support/guarded_buffer.hpp"
#include "support/implementations.hpp"
#include "support/pairwise.hpp"
#include "support/test_problem.hpp"

#include <array>
#include <bit>
#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace simdattn::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(Comparison, fails_when_only_one_side_is_nan) {
  EXPECT_FALSE(fulfils(nan, {1.0, 1e9}));
  EXPECT_FALSE(fulfils(1.0f, {nan, 1e9}));
  EXPECT_TRUE(fulfils(nan, {nan, 0}));
  EXPECT_TRUE(fulfils(-nan, {nan, 1}));
  EXPECT_FALSE(fulfils(1.0f, {1.0, nan}));
}

TEST(Comparison, fails_when_only_one_side_is_infinite) {
  EXPECT_FALSE(fulfils(infinity, {1.0, 1e30}));
  EXPECT_FALSE(fulfils(1.0f, {infinity, 1e30}));
  EXPECT_FALSE(fulfils(infinity, {-infinity, 0}));
  EXPECT_FALSE(fulfils(nan, {-infinity, 0}));
  EXPECT_TRUE(fulfils(-infinity, {-infinity, 0}));
  EXPECT_TRUE(fulfils(nan, {infinity, 1e-6})); // where a product with V made it
}

TEST(Comparison, allows_the_tolerance_and_no_more) {
  EXPECT_TRUE(fulfils(1.5f, {1.0, 0.5}));
  EXPECT_FALSE(fulfils(1.5f, {1.0, 0.4999}));
  EXPECT_FALSE(fulfils(0x1p-149f, {0, 0}));
}

TEST(Comparison, fails_on_what_nobody_wrote) {
  const float unwritten = std::bit_cast<float>(untouched_bits);
  EXPECT_FALSE(fulfils(unwritten, {nan, 1}));
  EXPECT_FALSE(fulfils(unwritten, {0, infinity}));
}

TEST(Comparison, names_the_place_of_what_is_wrong) {
  TestTensor tensor({1, 2, 3, 4}, Layout::bshd);
  tensor.fill(2);
  EXPECT_TRUE(elements_fulfil(tensor, [](std::size_t) { return Demand{2, 0}; }));
  tensor.at(0, 1, 2, 3) = 5;
  const auto result = elements_fulfil(tensor, [](std::size_t) { return Demand{2, 0}; });
  EXPECT_FALSE(result);
  EXPECT_NE(std::string(result.message()).find("[0][1][2][3] is 5, must be 2"), std::string::npos)
      << result.message();
}

// A result that is right passes; each way to spoil it fails.
TEST(Comparison, finds_each_kind_of_wrong_result) {
  AttentionCase c;
  c.heads = 2;
  c.kv_heads = 1;
  c.queries = 4;
  c.keys = 3;
  c.dim = c.value_dim = 3;
  c.options.causal = Causal::bottom_right; // row 0 sees nothing
  c.output_layout = Layout::gapped;
  TestProblem problem(c);
  problem.fill(1);
  const auto spoiled = [&](TestTensor& tensor, std::int64_t row, float value) {
    EXPECT_TRUE(runs_correctly(problem, find_implementation("scalar")));
    tensor.at(0, 0, row, 0) = value;
    return !is_correct(problem);
  };
  EXPECT_TRUE(spoiled(problem.output, 2, problem.output.at(0, 0, 2, 0) + 1e-4f));
  EXPECT_TRUE(spoiled(problem.output, 2, nan));
  EXPECT_TRUE(spoiled(problem.output, 0, 1e-30f));
  EXPECT_TRUE(spoiled(problem.lse, 0, 0));
  EXPECT_TRUE(spoiled(problem.lse, 2, nan));
  EXPECT_TRUE(spoiled(problem.weights, 0, 1e-30f));
  EXPECT_TRUE(spoiled(problem.weights, 3, infinity));
  EXPECT_TRUE(spoiled(problem.output, 2, std::bit_cast<float>(untouched_bits)));
  ASSERT_TRUE(runs_correctly(problem, find_implementation("scalar")));
  static_cast<float*>(problem.output.mutable_view().data)[3] = 1; // the first gap
  EXPECT_FALSE(is_correct(problem));
}

TEST(GuardedBufferDeathTest, ends_the_program_one_byte_outside) {
  const GuardedBuffer back(100, Placement::back), front(100, Placement::front),
      empty(0, Placement::back);
  back.data()[0] = back.data()[99] = front.data()[0] = front.data()[99] = std::byte{1};
  EXPECT_DEATH(back.data()[100] = std::byte{1}, "");
  EXPECT_DEATH(front.data()[-1] = std::byte{1}, "");
  EXPECT_DEATH(empty.data()[0] = std::byte{1}, "");
}

TEST(Pairwise, holds_every_pair_of_choices_that_is_allowed) {
  const std::vector<int> levels{3, 4, 2, 5};
  const auto allowed = [](const Combination& c) { return !(c[0] == 2 && c[3] == 4); };
  std::set<std::array<int, 4>> pairs;
  const std::vector<Combination> combinations = pairwise(levels, allowed);
  for (const Combination& c : combinations) {
    ASSERT_TRUE(allowed(c));
    for (int f = 0; f < 4; ++f)
      for (int g = f + 1; g < 4; ++g)
        pairs.insert({f, c[static_cast<std::size_t>(f)], g, c[static_cast<std::size_t>(g)]});
  }
  EXPECT_EQ(pairs.size(), 3u * 4 + 3 * 2 + 3 * 5 + 4 * 2 + 4 * 5 + 2 * 5 - 1);
  EXPECT_LT(combinations.size(), 35u); // of 120
}

} // namespace
} // namespace simdattn::test
