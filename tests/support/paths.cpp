#include "paths.hpp"

#include "simdattn/staged.hpp"

namespace simdattn::test {
namespace {

::testing::AssertionResult failed(const char* where, const TestProblem& problem,
                                  const char* message) {
  return ::testing::AssertionFailure() << where << " of " << problem.description << ": " << message;
}

::testing::AssertionResult runs_correctly_in_steps(TestProblem& problem,
                                                   const Implementation* implementation,
                                                   const reference::Expected& expected) {
  const AttentionCase& c = problem.description;
  Context context;
  context.implementation = implementation;
  context.threads = c.threads;
  TestTensor scores({c.batch, c.heads, c.queries, c.keys}, c.output_layout, c.placement);
  AttentionTensors tensors = problem.tensors();
  tensors.weights = scores.mutable_view();
  problem.output.reset();
  problem.weights.reset();
  Status status = attention_scores(tensors, ScoreStage::masked, c.options, context);
  if (status.ok())
    status = attention_softmax(scores.view(), problem.weights.mutable_view(), context);
  if (status.ok())
    status = attention_weighted_sum(problem.weights.view(), problem.value.view(),
                                    problem.output.mutable_view(), context);
  if (!status.ok()) return failed("a step", problem, status.message());

  const reference::Tolerance tolerance =
      reference::tolerance(problem.tensors(), c.options, expected);
  if (const auto result = scores_match(scores, expected, tolerance); !result)
    return failed("the first step", problem, result.message());
  if (const auto result = weights_match(problem.weights, expected, tolerance); !result)
    return failed("the second step", problem, result.message());
  if (const auto result = output_matches(problem.output, expected, tolerance); !result)
    return failed("the third step", problem, result.message());
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult runs_correctly_in_one_call(TestProblem& problem,
                                                      const Implementation* implementation,
                                                      const reference::Expected& expected) {
  if (const Status status = problem.run(implementation); !status.ok())
    return failed("the call", problem, status.message());
  return is_correct(problem, expected);
}

} // namespace

::testing::AssertionResult runs_correctly_on_every_path(TestProblem& problem,
                                                        const Implementation* implementation,
                                                        const reference::Expected& expected) {
  if (const auto result = runs_correctly_in_steps(problem, implementation, expected); !result)
    return result;
  problem.description.want_weights = false;
  const auto without_weights = runs_correctly_in_one_call(problem, implementation, expected);
  problem.description.want_weights = true;
  if (!without_weights) return without_weights;
  return runs_correctly_in_one_call(problem, implementation, expected);
}

::testing::AssertionResult runs_correctly_on_every_path(TestProblem& problem,
                                                        const Implementation* implementation) {
  return runs_correctly_on_every_path(problem, implementation, problem.expected());
}

} // namespace simdattn::test
