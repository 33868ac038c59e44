// Calls that take microseconds, in turns with plain loops that one would write instead.

#include "attention/contenders.hpp"
#include "loops.hpp"
#include "simdattn/implementation.hpp"
#include "support/run.hpp"

#include <cmath>

namespace simdattn::bench {
namespace {

struct TinyShape {
  Shape shape;
  double most; ///< how many times the plain loops' time it may take; 0: no limit is set
};
constexpr TinyShape tiny_shapes[] = {
    // Nearly nothing to compute: what a call costs by itself.
    {{"fixed_cost", 1, 1, 1, 1, 1, 8, 8}, 0},
    {{"lesson", 4, 1, 1, 10, 10, 64, 64}, 1},
    {{"lesson_wide_value", 8, 1, 1, 128, 128, 32, 64}, 1},
    {{"heads_32_32_128", 1, 32, 32, 32, 32, 128, 128}, 1},
};

struct Kind {
  const char* suffix;
  const char* base;
  LoopFunction Loops::*run;
  bool limited;
};
constexpr Kind kinds[] = {
    {"", "plain loops", &Loops::plain, true},
    {"_fast_math", "plain loops with -ffast-math", &Loops::fast_math, false},
};

LoopCall loop_call(const Shape& shape, const AttentionTensors& tensors, float* weights) {
  return {shape.batch,
          shape.heads,
          shape.kv_heads,
          shape.queries,
          shape.keys,
          shape.dim,
          shape.value_dim,
          1.0f / std::sqrt(static_cast<float>(shape.dim)),
          static_cast<const float*>(tensors.query.data),
          static_cast<const float*>(tensors.key.data),
          static_cast<const float*>(tensors.value.data),
          static_cast<float*>(tensors.output.data),
          weights};
}

void run(benchmark::State& state, const TinyShape& tiny, const Kind& kind, const char* isa,
         int threads) {
  const Shape& shape = tiny.shape;
  BenchProblem& problem = problem_of(shape);
  Buffer weights(shape.keys);
  const LoopCall loops = loop_call(shape, problem.tensors(), weights.data());
  const Contender ours = make_ours(find_implementation(isa), problem.tensors(), {}, threads);
  peak::Work work = problem.work(isa, threads);
  work.base = [&, run_loops = find_loops(isa)->*kind.run]() -> Status {
    run_loops(loops);
    return {};
  };
  Status status = ours.ready;
  if (status.ok()) status = work.base();
  if (status.ok()) status = problem.check_output();
  if (!status.ok()) return state.SkipWithError(status.message());
  state.SetLabel(base_label(kind.limited ? tiny.most : 0, kind.base));
  run_measured(state, ours.call, work);
}

} // namespace

void add_tiny_benchmarks() {
  for (const TinyShape& tiny : tiny_shapes) {
    for (const Kind& kind : kinds) {
      for (const char* isa : supported_implementations()) {
        for (const int threads : thread_counts()) {
          add_benchmark(
              std::string("tiny/") + tiny.shape.name + kind.suffix + '/' + isa +
                  "/threads:" + std::to_string(threads),
              [=, &tiny, &kind](benchmark::State& state) { run(state, tiny, kind, isa, threads); });
        }
      }
    }
  }
}

} // namespace simdattn::bench
