// What each option costs: a call with the option and one without, in turns and on the same memory.

#include "attention/contenders.hpp"
#include "options.hpp"
#include "peak/measure.hpp"
#include "simdattn/implementation.hpp"
#include "support/run.hpp"

#include <map>
#include <string_view>
#include <tuple>

namespace simdattn::bench {
namespace {

/// Who computes a shape, and how.
struct Runner {
  const Shape* shape;
  const char* isa;
  int threads;

  auto key() const { return std::tuple(shape->name, std::string_view(isa), threads); }
};

/// A call with its option, and who computes it.
struct Entry {
  OptionCall call;
  Contender contender;

  Entry(const Runner& runner, const Option& option) : call(problem_of(*runner.shape)) {
    option.apply(call);
    contender =
        make_ours(find_implementation(runner.isa), call.tensors, call.options, runner.threads);
  }
};

/// Entries are kept from one repetition to the next.
const Entry& entry_of(const Runner& runner, const Option& option) {
  static std::map<decltype(std::tuple_cat(runner.key(), std::tuple(""))), Entry> entries;
  return entries.try_emplace(std::tuple_cat(runner.key(), std::tuple(option.name)), runner, option)
      .first->second;
}

const Option& option_named(std::string_view name) {
  for (const Option& option : all_options()) {
    if (option.name == name) return option;
  }
  return all_options().front();
}

/// Arithmetic is counted where nothing but causality hides keys.
double flops_of(const OptionCall& call) {
  const bool others = call.tensors.mask.data != nullptr ||
                      call.tensors.kv_lengths.data != nullptr || call.options.window_left >= 0;
  return others ? 0 : peak::attention_flops(call.tensors, call.options);
}

void run(benchmark::State& state, const Runner& runner, const Option& option) {
  const Entry& entry = entry_of(runner, option);
  const Entry& base = entry_of(runner, option_named(option.base));
  for (const Status* ready : {&entry.contender.ready, &base.contender.ready}) {
    if (!ready->ok()) return state.SkipWithError(ready->message());
  }
  state.SetLabel(base_label(option.most, option.base));
  peak::Work work{flops_of(entry.call), runner.isa, runner.threads};
  work.base = base.contender.call;
  run_measured(state, entry.contender.call, work);
}

} // namespace

void add_option_benchmarks() {
  for (const OptionShape& one : option_shapes) {
    for (const Option& option : all_options()) {
      if ((option.shapes & one.kind) == 0) continue;
      for (const char* isa : supported_implementations()) {
        for (const int threads : thread_counts()) {
          const Runner runner{&one.shape, isa, threads};
          add_benchmark(std::string("options/") + option.name + '/' + one.shape.name + '/' + isa +
                            "/threads:" + std::to_string(threads),
                        [=, &option](benchmark::State& state) { run(state, runner, option); });
        }
      }
    }
  }
}

} // namespace simdattn::bench
