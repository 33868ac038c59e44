// Whole calls on the shapes of models: every implementation, and the baselines.

#include "contenders.hpp"
#include "peak/measure.hpp"
#include "support/problem.hpp"
#include "support/run.hpp"

#include <map>

namespace simdattn::bench {
namespace {

/// Contenders keep their primitives and workspaces from one repetition to the next.
Contender& contender_of(const std::string& name, const Shape& shape, const char* contender,
                        int threads) {
  static std::map<std::string, Contender> contenders;
  const auto found = contenders.find(name);
  if (found != contenders.end()) return found->second;
  return contenders.emplace(name, make_contender(contender, problem_of(shape), threads))
      .first->second;
}

void run(benchmark::State& state, const std::string& name, const Shape& shape,
         const char* contender_name, int threads) {
  BenchProblem& problem = problem_of(shape);
  Contender& contender = contender_of(name, shape, contender_name, threads);
  Status status = contender.ready;
  if (status.ok()) status = contender.call();
  if (status.ok()) status = problem.check_output();
  if (!status.ok()) return state.SkipWithError(status.message());
  state.SetLabel(contender.label);
  const double flops = peak::attention_flops(problem.tensors(), problem.options());
  run_measured(state, contender.call, {flops, contender.isa, threads});
}

} // namespace

void add_attention_benchmarks() {
  for (const Shape& shape : shapes) {
    for (const int threads : thread_counts()) {
      for (const char* contender : contender_names(shape, threads)) {
        const std::string name = std::string("attention/") + shape.name + '/' + contender +
                                 "/threads:" + std::to_string(threads);
        add_benchmark(name, [=, &shape](benchmark::State& state) {
          run(state, name, shape, contender, threads);
        });
      }
    }
  }
}

} // namespace simdattn::bench
