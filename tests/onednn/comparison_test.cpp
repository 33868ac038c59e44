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

AttentionCase make_case(const Shape& query, std::int64_t kv_heads, std::int64_t keys,
                        Causal causal = Causal::none, Layout layout = Layout::bhsd) {
  AttentionCase description{.batch = query.batch,
                            .heads = query.heads,
                            .kv_heads = kv_heads,
                            .queries = query.seq,
                            .keys = keys,
                            .dim = query.dim,
                            .value_dim = query.dim,
                            .query_layout = layout,
                            .key_layout = layout,
                            .value_layout = layout,
                            .output_layout = layout};
  description.options.causal = causal;
  return description;
}

AttentionCase wide_values() {
  AttentionCase description = make_case({1, 2, 31, 24}, 2, 63, Causal::none, Layout::gapped);
  description.value_dim = 80;
  description.options.scale = -0.3f;
  return description;
}

// Shapes of models, cut down in heads and length, and everything that the baseline treats apart:
// groups whose rows lie evenly spaced or don't, each causal kind, a scale, gaps.
const NamedCase cases[] = {
    {"bert", make_case({1, 3, 128, 64}, 3, 128)},
    {"vit", make_case({2, 2, 197, 64}, 2, 197, Causal::none, Layout::bshd)},
    {"stable_diffusion", make_case({1, 2, 300, 40}, 2, 1030)},
    {"llama", make_case({1, 2, 260, 128}, 2, 260, Causal::top_left)},
    {"cache", make_case({2, 2, 5, 128}, 2, 300, Causal::bottom_right)},
    {"grouped", make_case({2, 8, 65, 64}, 2, 129)},
    {"grouped_causal", make_case({2, 6, 33, 64}, 2, 47, Causal::bottom_right)},
    {"grouped_bshd", make_case({2, 6, 40, 32}, 2, 70, Causal::none, Layout::bshd)},
    {"grouped_bshd_causal", make_case({2, 6, 40, 32}, 2, 70, Causal::top_left, Layout::bshd)},
    {"wide_values", wide_values()},
    {"one_query", make_case({1, 4, 1, 128}, 1, 511)},
    {"lesson", make_case({4, 1, 10, 64}, 1, 10)},
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
