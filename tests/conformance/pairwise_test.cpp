// Every pair of sizes, head counts, layouts and options against the oracle.

#include "support/effort.hpp"
#include "support/implementations.hpp"
#include "support/pairwise.hpp"
#include "support/test_problem.hpp"

#include <gtest/gtest.h>
#include <tuple>

namespace simdattn::test {
namespace {

struct Heads {
  std::int64_t query, kv;
};
enum class ValueDim { same, half, two_more };

constexpr std::int64_t batches[] = {1, 2, 3};
constexpr Heads head_counts[] = {{1, 1}, {2, 2}, {4, 2}, {6, 1}, {9, 3}};
constexpr std::int64_t lengths[] = {1,  2,  7,   8,   15,  16,  17,  31,  32,  33,  63,
                                    64, 65, 127, 128, 129, 255, 256, 257, 600, 1030};
constexpr std::int64_t dims[] = {1,  2,  3,   5,   8,   16,  17,  24,  40,  48, 72,
                                 80, 96, 112, 120, 128, 160, 192, 256, 512, 576};
constexpr ValueDim value_dims[] = {ValueDim::same, ValueDim::half, ValueDim::two_more};
constexpr Causal causals[] = {Causal::none, Causal::top_left, Causal::bottom_right};
constexpr std::optional<float> scales[] = {std::nullopt, 0.3f, -0.2f};
constexpr int thread_counts[] = {1, 3};

enum Factor {
  batch,
  heads,
  queries,
  keys,
  dim,
  value_dim,
  causal,
  scale,
  query,
  key,
  value,
  output,
  placement,
  wanted,
  threads
};

template <class Array>
constexpr int size(const Array& array) {
  return static_cast<int>(std::size(array));
}

std::vector<int> levels() {
  return {size(batches),
          size(head_counts),
          size(lengths),
          size(lengths),
          size(dims),
          size(value_dims),
          size(causals),
          size(scales),
          size(input_layouts),
          size(input_layouts),
          size(input_layouts),
          size(output_layouts),
          2,
          3,
          size(thread_counts)};
}

std::int64_t value_dim_of(ValueDim choice, std::int64_t query_dim) {
  switch (choice) {
  case ValueDim::same:
    return query_dim;
  case ValueDim::half:
    return (query_dim + 1) / 2;
  case ValueDim::two_more:
    return query_dim + 2;
  }
  return 0;
}

// Multiplications of both products; undecided factors count as their smallest.
std::int64_t work(const Combination& c) {
  const auto pick = [&](const auto& array, Factor factor) {
    return array[c[factor] < 0 ? 0 : c[factor]];
  };
  const std::int64_t d = pick(dims, dim);
  return pick(batches, batch) * pick(head_counts, heads).query * pick(lengths, queries) *
         pick(lengths, keys) * (d + value_dim_of(pick(value_dims, value_dim), d));
}

AttentionCase to_case(const Combination& c) {
  AttentionCase result;
  result.batch = batches[c[batch]];
  result.heads = head_counts[c[heads]].query;
  result.kv_heads = head_counts[c[heads]].kv;
  result.queries = lengths[c[queries]];
  result.keys = lengths[c[keys]];
  result.dim = dims[c[dim]];
  result.value_dim = value_dim_of(value_dims[c[value_dim]], result.dim);
  result.options.causal = causals[c[causal]];
  result.options.scale = scales[c[scale]];
  result.query_layout = input_layouts[c[query]];
  result.key_layout = input_layouts[c[key]];
  result.value_layout = input_layouts[c[value]];
  result.output_layout = output_layouts[c[output]];
  result.placement = c[placement] == 0 ? Placement::back : Placement::front;
  result.want_lse = c[wanted] != 0;
  result.want_weights = c[wanted] == 2;
  result.threads = thread_counts[c[threads]];
  return result;
}

// Cut in shares, so that they run side by side.
constexpr int share_count = 8;

class Pairwise : public ::testing::TestWithParam<std::tuple<const Implementation*, int>> {};

TEST_P(Pairwise, equals_the_reference) {
  const auto [implementation, share] = GetParam();
  if (!implementation_supported(implementation))
    GTEST_SKIP() << "this CPU can't run " << implementation_name(implementation);
  const std::int64_t most_work = effort(40'000'000, 400'000);
  const auto combinations =
      pairwise(levels(), [&](const Combination& c) { return work(c) <= most_work; });
  ASSERT_GT(combinations.size(), 400u);
  for (std::size_t i = static_cast<std::size_t>(share); i < combinations.size(); i += share_count)
    ASSERT_TRUE(runs_correctly(to_case(combinations[i]), implementation, i)) << "case " << i;
}

std::string share_name(const ::testing::TestParamInfo<Pairwise::ParamType>& info) {
  const auto [implementation, share] = info.param;
  return std::string(implementation_name(implementation)) + "_share" + std::to_string(share);
}

INSTANTIATE_TEST_SUITE_P(On, Pairwise,
                         ::testing::Combine(::testing::ValuesIn(every_implementation()),
                                            ::testing::Range(0, share_count)),
                         share_name);

} // namespace
} // namespace simdattn::test
