// Our results against oneDNN's, element by element, on every implementation.

#include "baselines/onednn.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

namespace simdattn::test {
namespace {

using baseline::OnednnAttention;

struct NamedCase {
  const char* name;
  AttentionCase description;
};

// Shapes of models, cut down in heads and length, and everything the baseline treats apart: groups
// whose rows lie evenly spaced or don't, each causal kind, scales, strides.
const NamedCase cases[] = {
    {"bert", {.heads = 3, .kv_heads = 3, .queries = 128, .keys = 128, .dim = 64, .value_dim = 64}},
    {"vit",
     {.batch = 2,
      .heads = 2,
      .kv_heads = 2,
      .queries = 197,
      .keys = 197,
      .dim = 64,
      .value_dim = 64}},
    {"stable_diffusion",
     {.heads = 2, .kv_heads = 2, .queries = 300, .keys = 1030, .dim = 40, .value_dim = 40}},
    {"llama_causal",
     {.heads = 2,
      .kv_heads = 2,
      .queries = 260,
      .keys = 260,
      .dim = 128,
      .value_dim = 128,
      .options = {.causal = Causal::top_left}}},
    {"cache",
     {.batch = 2,
      .heads = 2,
      .kv_heads = 2,
      .queries = 5,
      .keys = 300,
      .dim = 128,
      .value_dim = 128,
      .options = {.causal = Causal::bottom_right}}},
    {"grouped",
     {.batch = 2,
      .heads = 8,
      .kv_heads = 2,
      .queries = 65,
      .keys = 129,
      .dim = 64,
      .value_dim = 64}},
    {"grouped_causal",
     {.batch = 2,
      .heads = 6,
      .kv_heads = 2,
      .queries = 33,
      .keys = 47,
      .dim = 64,
      .value_dim = 64,
      .options = {.causal = Causal::bottom_right}}},
    {"grouped_bshd",
     {.batch = 2,
      .heads = 6,
      .kv_heads = 2,
      .queries = 40,
      .keys = 70,
      .dim = 32,
      .value_dim = 32,
      .query_layout = Layout::bshd,
      .key_layout = Layout::bshd,
      .value_layout = Layout::bshd,
      .output_layout = Layout::bshd}},
    {"grouped_bshd_causal",
     {.batch = 2,
      .heads = 6,
      .kv_heads = 2,
      .queries = 40,
      .keys = 70,
      .dim = 32,
      .value_dim = 32,
      .options = {.causal = Causal::top_left},
      .query_layout = Layout::bshd,
      .key_layout = Layout::bshd,
      .value_layout = Layout::bshd,
      .output_layout = Layout::bshd}},
    {"wide_values_gapped",
     {.heads = 2,
      .kv_heads = 2,
      .queries = 31,
      .keys = 63,
      .dim = 24,
      .value_dim = 80,
      .options = {.scale = -0.3f},
      .query_layout = Layout::gapped,
      .key_layout = Layout::gapped,
      .value_layout = Layout::gapped,
      .output_layout = Layout::gapped}},
    {"one_query",
     {.heads = 4, .kv_heads = 1, .queries = 1, .keys = 511, .dim = 128, .value_dim = 128}},
    {"lesson", {.batch = 4, .queries = 10, .keys = 10, .dim = 64, .value_dim = 64}},
};

class OnednnTest : public ImplementationTest {};

/// The demand that `other` makes when both sides may be off by `tolerance`.
std::function<Demand(std::size_t)> near(const std::vector<double>& other, double tolerance) {
  return [&other, tolerance](std::size_t index) { return Demand{other[index], 2 * tolerance}; };
}

TEST_P(OnednnTest, OurResultsAreThoseOfOnednn) {
  for (const NamedCase& named : cases) {
    SCOPED_TRACE(named.name);
    TestProblem problem(named.description);
    problem.fill(7, 2.0f);
    std::unique_ptr<OnednnAttention> onednn;
    ASSERT_OK(OnednnAttention::create(problem.tensors(), named.description.options, 1, &onednn));
    ASSERT_OK(onednn->run(problem.tensors()));
    const std::vector<double> output = elements_of(problem.output.view());
    const float* weights_begin = onednn->weights();
    const std::vector<double> weights(weights_begin,
                                      weights_begin + problem.weights.shape().count());

    problem.output.reset();
    ASSERT_OK(problem.run(implementation()));
    const reference::Tolerance tolerance = problem.tolerance();
    EXPECT_TRUE(elements_fulfil(problem.output, near(output, tolerance.output)));
    EXPECT_TRUE(elements_fulfil(problem.weights, near(weights, tolerance.weights)));
  }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(OnednnTest);

} // namespace
} // namespace simdattn::test
