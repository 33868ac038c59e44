// Whole calls on the shapes of models: every implementation, and the baselines.

#include "contenders.hpp"
#include "support/problem.hpp"
#include "support/run.hpp"

#include <cstring>
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

/// Runs a contender once, and compares its output with the library's, which is that of the best
/// implementation.
Status check(Contender& contender, const char* name, BenchProblem& problem) {
  Status status = contender.ready;
  if (std::strcmp(name, best_implementation()) == 0) return status;
  if (status.ok()) status = contender.call();
  return status.ok() ? problem.check_output() : status;
}

void run(benchmark::State& state, const std::string& name, const Shape& shape,
         const char* contender_name, int threads) {
  BenchProblem& problem = problem_of(shape);
  Contender& contender = contender_of(name, shape, contender_name, threads);
  if (!contender.right) {
    if (Status status = check(contender, contender_name, problem); !status.ok())
      return state.SkipWithError(status.message());
    contender.right = true;
  }
  state.SetLabel(contender.label);
  state.counters["memory"] = static_cast<double>(contender.memory);
  run_measured(state, contender.call, problem.work(contender.isa, threads));
}

void add(const std::string& group, const Shape& shape, const char* contender, int threads) {
  const std::string name =
      group + '/' + shape.name + '/' + contender + "/threads:" + std::to_string(threads);
  add_benchmark(
      name, [=, &shape](benchmark::State& state) { run(state, name, shape, contender, threads); });
}

} // namespace

void add_attention_benchmarks() {
  for (const Shape& shape : shapes) {
    for (const int threads : thread_counts()) {
      for (const char* contender : contender_names(shape, threads))
        add("attention", shape, contender, threads);
    }
  }
  for (const Shape& shape : growth_shapes) {
    for (const int threads : thread_counts())
      add("growth", shape, best_implementation(), threads);
  }
}

} // namespace simdattn::bench
