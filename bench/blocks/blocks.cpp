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
    {"speculative_4096_128", 1, 32, 8, 4, 4096, 128, 128},
};

/// Rows where vectors along D and vectors along the rows take turns: see TileSizes::few_rows.
constexpr Shape crossover_shapes[] = {
    {"rows_2_keys_512", 1, 8, 8, 2, 512, 128, 128},
    {"rows_4_keys_512", 1, 8, 8, 4, 512, 128, 128},
    {"rows_6_keys_512", 1, 8, 8, 6, 512, 128, 128},
    {"rows_8_keys_512", 1, 8, 8, 8, 512, 128, 128},
    {"rows_2_keys_4096", 1, 8, 8, 2, 4096, 128, 128},
    {"rows_4_keys_4096", 1, 8, 8, 4, 4096, 128, 128},
    {"rows_6_keys_4096", 1, 8, 8, 6, 4096, 128, 128},
    {"rows_8_keys_4096", 1, 8, 8, 8, 4096, 128, 128},
    {"rows_2_keys_32768", 1, 8, 8, 2, 32768, 128, 128},
    {"rows_4_keys_32768", 1, 8, 8, 4, 32768, 128, 128},
    {"rows_6_keys_32768", 1, 8, 8, 6, 32768, 128, 128},
    {"rows_8_keys_32768", 1, 8, 8, 8, 32768, 128, 128},
};

/// An implementation whose table asks for other sizes.
struct Variant {
  KernelTable table;
  Implementation implementation{table};

  Variant(const KernelTable& own, const TileSizes& tiles) : table(own) { table.tiles = tiles; }
  Variant(const Variant&) = delete;
};

void run(benchmark::State& state, const Shape& shape, const Implementation* own,
         const TileSizes& tiles) {
  BenchProblem& problem = problem_of(shape);
  const Variant variant(*own->table, tiles);
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
  state.SetLabel(base_label(0, "the implementation's own sizes"));
  run_measured(state, ours.call, work);
}

void add(const std::string& name, const Shape& shape, const Implementation* own,
         const TileSizes& tiles) {
  add_benchmark(name + '/' + own->table->name + "/threads:1",
                [=, &shape](benchmark::State& state) { run(state, shape, own, tiles); });
}

} // namespace

void add_block_benchmarks() {
  for (const char* isa : supported_implementations()) {
    const Implementation* own = find_implementation(isa);
    TileSizes tiles = own->table->tiles;
    for (const Shape& shape : crossover_shapes) {
      for (const int rows : {0, own->table->tiles.lanes}) {
        tiles.few_rows = rows;
        add(std::string("crossover/") + shape.name + (rows == 0 ? "/by_panel" : "/by_row"), shape,
            own, tiles);
      }
    }
    tiles = own->table->tiles;
    // The kernels have room for no more rows than their own block has.
    const int most_rows = tiles.row_block;
    for (const Shape& shape : block_shapes) {
      for (int rows = tiles.panel_rows; rows <= most_rows; rows += tiles.panel_rows) {
        for (const int keys : {32, 64, 128, 256, 512}) {
          tiles.row_block = rows;
          tiles.key_block = tiles.key_block_large_dim = tiles.key_block_one_panel = keys;
          add(std::string("blocks/") + shape.name + "/rows_" + std::to_string(rows) + "_keys_" +
                  std::to_string(keys),
              shape, own, tiles);
        }
      }
    }
  }
}

} // namespace simdattn::bench
