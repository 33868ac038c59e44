#include "test_problem.hpp"

#include <algorithm>
#include <cstring>
#include <ostream>
#include <random>

namespace simdattn::test {
namespace {

const char* name_of(Causal causal) {
  switch (causal) {
  case Causal::none:
    return "none";
  case Causal::top_left:
    return "top_left";
  case Causal::bottom_right:
    return "bottom_right";
  }
  return "";
}

} // namespace

std::ostream& operator<<(std::ostream& stream, const AttentionCase& c) {
  stream << "B=" << c.batch << " Hq=" << c.heads << " Hkv=" << c.kv_heads << " Lq=" << c.queries
         << " Lkv=" << c.keys << " D=" << c.dim << " Dv=" << c.value_dim
         << " causal=" << name_of(c.options.causal) << " scale=";
  if (c.options.scale)
    stream << *c.options.scale;
  else
    stream << "default";
  return stream << " query=" << name_of(c.query_layout) << " key=" << name_of(c.key_layout)
                << " value=" << name_of(c.value_layout) << " output=" << name_of(c.output_layout)
                << " placement=" << (c.placement == Placement::back ? "back" : "front")
                << " lse=" << c.want_lse << " weights=" << c.want_weights
                << " threads=" << c.threads;
}

TestProblem::TestProblem(const AttentionCase& c)
    : description(c), query({c.batch, c.heads, c.queries, c.dim}, c.query_layout, c.placement),
      key({c.batch, c.kv_heads, c.keys, c.dim}, c.key_layout, c.placement),
      value({c.batch, c.kv_heads, c.keys, c.value_dim}, c.value_layout, c.placement),
      output({c.batch, c.heads, c.queries, c.value_dim}, c.output_layout, c.placement),
      lse({c.batch, c.heads, c.queries, 1}, c.output_layout, c.placement),
      weights({c.batch, c.heads, c.queries, c.want_weights ? c.keys : 0}, c.output_layout,
              c.placement) {}

void TestProblem::fill(std::uint64_t seed, float query_deviation) {
  std::mt19937_64 random(seed);
  query.fill_normal(random, query_deviation);
  key.fill_normal(random);
  value.fill_normal(random);
}

void TestProblem::fill_from(const TestProblem& other) {
  query.fill_from(other.query);
  key.fill_from(other.key);
  value.fill_from(other.value);
}

AttentionTensors TestProblem::tensors() {
  AttentionTensors tensors = others;
  tensors.query = query.view();
  tensors.key = key.view();
  tensors.value = value.view();
  tensors.output = output.mutable_view();
  if (description.want_lse) tensors.lse = lse.mutable_view();
  if (description.want_weights) tensors.weights = weights.mutable_view();
  return tensors;
}

Status TestProblem::run(const Implementation* implementation, Context context) {
  context.implementation = implementation;
  if (context.threads == 0) context.threads = description.threads;
  output.reset();
  lse.reset();
  weights.reset();
  std::size_t bytes = 0;
  if (Status status = workspace_size(tensors(), description.options, context, &bytes); !status.ok())
    return status;
  const GuardedBuffer workspace(bytes, description.placement);
  std::memset(workspace.data(), 0xff, bytes); // 0xffffffff is a NaN
  context.workspace = workspace.data();
  context.workspace_bytes = bytes;
  return scaled_dot_product_attention(tensors(), description.options, context);
}

reference::Expected TestProblem::expected() {
  return reference::attention(tensors(), description.options);
}

reference::Tolerance TestProblem::tolerance() {
  return reference::tolerance(tensors(), description.options);
}

::testing::AssertionResult is_correct(TestProblem& problem) {
  return is_correct(problem, problem.expected());
}

::testing::AssertionResult is_correct(TestProblem& problem, const reference::Expected& expected) {
  const reference::Tolerance tolerance =
      reference::tolerance(problem.tensors(), problem.description.options, expected);
  const auto part = [&](const char* name, const ::testing::AssertionResult& result) {
    return ::testing::AssertionFailure()
           << name << " of " << problem.description << ": " << result.message();
  };
  if (const auto result = output_matches(problem.output, expected, tolerance); !result)
    return part("output", result);
  if (problem.description.want_lse)
    if (const auto result = lse_matches(problem.lse, expected, tolerance); !result)
      return part("lse", result);
  if (problem.description.want_weights)
    if (const auto result = weights_match(problem.weights, expected, tolerance); !result)
      return part("weights", result);
  for (const TestTensor* tensor : {&problem.output, &problem.lse, &problem.weights})
    if (!tensor->gaps_untouched())
      return part("the gaps", ::testing::AssertionFailure() << "were written to");
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult
runs_correctly(TestProblem& problem, const Implementation* implementation, const Context& context) {
  if (const Status status = problem.run(implementation, context); !status.ok())
    return ::testing::AssertionFailure() << problem.description << ": " << status.message();
  return is_correct(problem);
}

::testing::AssertionResult runs_correctly(const AttentionCase& description,
                                          const Implementation* implementation,
                                          std::uint64_t seed) {
  TestProblem problem(description);
  problem.fill(seed);
  return runs_correctly(problem, implementation);
}

} // namespace simdattn::test
