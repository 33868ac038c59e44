// Several threads call at once. Plain std::thread everywhere, so that ThreadSanitizer follows it.

#include "simdattn/staged.hpp"
#include "support/effort.hpp"
#include "support/implementations.hpp"
#include "support/parallel.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace simdattn::test {
namespace {

constexpr int caller_count = 4;

AttentionCase description(int caller) {
  AttentionCase c;
  c.batch = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.queries = 60 + 7 * caller;
  c.keys = 90;
  c.dim = 16;
  c.value_dim = 9;
  c.options.causal = caller % 2 == 0 ? Causal::none : Causal::bottom_right;
  return c;
}

// body(caller) on a thread each, all at once.
template <class Body>
void on_every_caller(Body&& body) {
  std::atomic<int> waiting{caller_count};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < caller_count; ++caller)
    callers.emplace_back([&, caller] {
      --waiting;
      while (waiting > 0)
        std::this_thread::yield();
      body(caller);
    });
  for (std::thread& caller : callers)
    caller.join();
}

class ConcurrentCallers : public ImplementationTest {
protected:
  Context context() const {
    Context context;
    context.implementation = implementation();
    context.threads = 3;
    context.parallel_for = on_threads();
    return context;
  }
};

TEST_P(ConcurrentCallers, with_workspaces_of_their_own_get_the_results_of_one) {
  std::vector<std::unique_ptr<TestProblem>> problems;
  for (int caller = 0; caller < caller_count; ++caller) {
    problems.push_back(std::make_unique<TestProblem>(description(caller)));
    problems.back()->fill(static_cast<std::uint64_t>(caller));
  }
  std::vector<Status> statuses(caller_count);
  on_every_caller([&](int caller) {
    const auto index = static_cast<std::size_t>(caller);
    for (int round = 0; round < effort(5, 1); ++round)
      statuses[index] = problems[index]->run(implementation(), context());
  });
  for (std::size_t caller = 0; caller < caller_count; ++caller) {
    ASSERT_OK(statuses[caller]);
    EXPECT_TRUE(is_correct(*problems[caller]));
    TestProblem alone(description(static_cast<int>(caller)));
    alone.fill_from(*problems[caller]);
    ASSERT_OK(alone.run(implementation()));
    EXPECT_TRUE(same_elements(problems[caller]->output, alone.output));
  }
}

TEST_P(ConcurrentCallers, may_share_their_inputs_and_options) {
  TestProblem shared(description(1));
  shared.fill(9);
  ASSERT_OK(shared.run(implementation()));
  std::vector<std::unique_ptr<TestTensor>> outputs;
  for (int caller = 0; caller < caller_count; ++caller)
    outputs.push_back(std::make_unique<TestTensor>(shared.output.shape(), Layout::bhsd));
  std::vector<Status> statuses(caller_count);
  const AttentionTensors inputs = shared.tensors();
  on_every_caller([&](int caller) {
    const auto index = static_cast<std::size_t>(caller);
    AttentionTensors tensors = inputs;
    tensors.output = outputs[index]->mutable_view();
    tensors.lse = tensors.weights = {};
    statuses[index] = scaled_dot_product_attention(tensors, shared.description.options, context());
  });
  for (std::size_t caller = 0; caller < caller_count; ++caller) {
    ASSERT_OK(statuses[caller]);
    EXPECT_TRUE(same_elements(*outputs[caller], shared.output));
  }
}

TEST_P(ConcurrentCallers, may_take_the_steps_one_by_one) {
  std::vector<std::unique_ptr<TestProblem>> problems;
  std::vector<std::unique_ptr<TestTensor>> scores;
  for (int caller = 0; caller < caller_count; ++caller) {
    problems.push_back(std::make_unique<TestProblem>(description(caller)));
    problems.back()->fill(static_cast<std::uint64_t>(caller));
    scores.push_back(std::make_unique<TestTensor>(problems.back()->weights.shape(), Layout::bhsd));
  }
  std::atomic<int> errors{0};
  on_every_caller([&](int caller) {
    TestProblem& problem = *problems[static_cast<std::size_t>(caller)];
    TestTensor& own_scores = *scores[static_cast<std::size_t>(caller)];
    errors += attention_scores(problem.query.view(), problem.key.view(), own_scores.mutable_view(),
                               problem.description.options, context())
                      .ok()
                  ? 0
                  : 1;
    errors += attention_softmax(own_scores.view(), problem.weights.mutable_view(), context()).ok()
                  ? 0
                  : 1;
    errors += attention_weighted_sum(problem.weights.view(), problem.value.view(),
                                     problem.output.mutable_view(), context())
                      .ok()
                  ? 0
                  : 1;
  });
  EXPECT_EQ(errors, 0);
  for (const auto& problem : problems) {
    const reference::Expected expected = problem->expected();
    EXPECT_TRUE(output_matches(problem->output, expected, problem->tolerance()));
    EXPECT_TRUE(weights_match(problem->weights, expected, problem->tolerance()));
  }
}

// The first call of the process decides what there is, while others set and read it.
TEST(ConcurrentChoice, of_an_implementation_is_safe) {
  const std::vector<const Implementation*> supported = supported_implementations();
  std::atomic<int> errors{0};
  on_every_caller([&](int caller) {
    TestProblem problem(description(caller));
    problem.fill(1);
    const AttentionTensors tensors = problem.tensors();
    for (int round = 0; round < effort(20, 3); ++round) {
      const Implementation* mine =
          supported[static_cast<std::size_t>(caller + round) % supported.size()];
      const Implementation* active = nullptr;
      errors +=
          set_implementation(mine).ok() && active_implementation(&active).ok() && active != nullptr
              ? 0
              : 1;
      // Without a workspace, whose size belongs to one implementation.
      errors += scaled_dot_product_attention(tensors, problem.description.options, {}).ok() ? 0 : 1;
    }
    errors += is_correct(problem) ? 0 : 1;
  });
  EXPECT_EQ(errors, 0);
  EXPECT_OK(set_implementation(nullptr));
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(ConcurrentCallers);

} // namespace
} // namespace simdattn::test
