// Other block sizes than those that an implementation asks for, each in turns with those.

#include "attention/contenders.hpp"
#include "dispatch.hpp"
#include "support/run.hpp"

#include <memory>

namespace simdattn::bench {
namespace {

constexpr Shape block_shapes[] = {
    {"bert_base_128", 1, 12, 12, 128, 128, 64, 64},
    {"bert_base_512", 1, 12, 12, 512, 512, 64, 64},
    {"prefill_2048_64", 1, 1, 1, 2048, 2048, 64, 64},
    {"prefill_2048_64_causal", 1, 1, 1, 2048, 2048, 64, 64, Causal::top_left},
    {"prefill_2048_128", 1, 1, 1, 2048, 2048, 128, 128},
    {"prefill_2048_128_causal", 1, 1, 1, 2048, 2048, 128, 128, Causal::top_left},
    {"prefill_2048_40", 1, 1, 1, 2048, 2048, 40, 40},
    {"decode_4096_128", 1, 8, 2, 1, 4096, 128, 128},
};

/// An implementation whose table asks for other blocks.
struct Variant {
  KernelTable table;
  Implementation implementation{table};

  Variant(const KernelTable& own, int rows, int keys) : table(own) {
    table.tiles.row_block = rows;
    table.tiles.key_block = table.tiles.key_block_large_dim = keys;
  }
  Variant(const Variant&) = delete;
};

void run(benchmark::State& state, const Shape& shape, const Implementation* own, int rows,
         int keys) {
  BenchProblem& problem = problem_of(shape);
  const Variant variant(*own->table, rows, keys);
  const auto contender_of = [&](const Implementation* implementation) {
    return make_ours(implementation, problem.tensors(), problem.options(), 1);
  };
  const Contender ours = contender_of(&variant.implementation), base = contender_of(own);
  Status status = ours.ready;
  if (status.ok()) status = ours.call();
  if (status.ok()) status = problem.check_output();
  if (!status.ok()) return state.SkipWithError(status.message());
  peak::Work work = problem.work(own->table->name, 1);
  work.base = base.call;
  state.SetLabel(base_label(0, "the implementation's own blocks"));
  run_measured(state, ours.call, work);
}

} // namespace

void add_block_benchmarks() {
  for (const char* isa : supported_implementations()) {
    const Implementation* own = find_implementation(isa);
    const TileSizes& tiles = own->table->tiles;
    for (const Shape& shape : block_shapes) {
      // The kernels have room for no more rows than their own block has.
      for (int rows = tiles.panel_rows; rows <= tiles.row_block; rows += tiles.panel_rows) {
        for (const int keys : {32, 64, 128, 256, 512}) {
          add_benchmark(
              std::string("blocks/") + shape.name + "/rows_" + std::to_string(rows) + "_keys_" +
                  std::to_string(keys) + '/' + isa + "/threads:1",
              [=, &shape](benchmark::State& state) { run(state, shape, own, rows, keys); });
        }
      }
    }
  }
}

} // namespace simdattn::bench
