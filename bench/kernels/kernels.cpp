// The entries of each implementation's kernel table on one block of rows: what the inner loops
// reach before batch, heads and threads come into it.

#include "run_call.hpp"
#include "support/buffer.hpp"
#include "support/random.hpp"
#include "support/run.hpp"
#include "validate.hpp"

namespace simdattn::bench {
namespace {

constexpr std::int64_t key_count = 1024;

/// One block of rows with its keys: what any entry reads and writes.
struct Block {
  Block(std::int64_t row_count, std::int64_t dims)
      : rows(row_count), dim(dims), query(rows * dim), key(key_count * dim), value(key_count * dim),
        output(rows * dim), scores(rows * key_count), weights(rows * key_count) {
    std::mt19937 random(1);
    for (Buffer* buffer : {&query, &key, &value, &scores, &weights})
      fill_normal(*buffer, random);
  }
  TensorView in(const Buffer& buffer, std::int64_t count, std::int64_t columns) const {
    return sd(buffer.data(), count, columns);
  }
  MutableTensorView out(Buffer& buffer, std::int64_t columns) const {
    return sd(buffer.data(), rows, columns);
  }

  std::int64_t rows, dim;
  Buffer query, key, value, output, scores, weights;
};

Status fused_problem(Block& block, Problem* problem) {
  AttentionTensors tensors;
  tensors.query = block.in(block.query, block.rows, block.dim);
  tensors.key = block.in(block.key, key_count, block.dim);
  tensors.value = block.in(block.value, key_count, block.dim);
  tensors.output = block.out(block.output, block.dim);
  return validate_attention(tensors, {}, problem);
}

Status scores_problem(Block& block, Problem* problem) {
  AttentionTensors tensors;
  tensors.query = block.in(block.query, block.rows, block.dim);
  tensors.key = block.in(block.key, key_count, block.dim);
  tensors.weights = block.out(block.scores, key_count);
  return validate_scores(tensors, ScoreStage::masked, {}, problem);
}

Status softmax_problem(Block& block, Problem* problem) {
  return validate_softmax(block.in(block.scores, block.rows, key_count),
                          block.out(block.weights, key_count), problem);
}

Status weighted_sum_problem(Block& block, Problem* problem) {
  return validate_weighted_sum(block.in(block.weights, block.rows, key_count),
                               block.in(block.value, key_count, block.dim),
                               block.out(block.output, block.dim), problem);
}

struct Entry {
  const char* name;
  KernelEntry kernel;
  Status (*make_problem)(Block& block, Problem* problem);
  double flops; ///< for each query, key and dim; 0: not a product
};
constexpr Entry entries[] = {
    {"scores", &KernelTable::scores, scores_problem, 2},
    {"softmax", &KernelTable::softmax, softmax_problem, 0},
    {"weighted_sum", &KernelTable::weighted_sum, weighted_sum_problem, 2},
    {"fused", &KernelTable::fused, fused_problem, 4},
};

void run_entry(benchmark::State& state, const Entry& entry, const char* isa, std::int64_t dim) {
  const Implementation* implementation = find_implementation(isa);
  Block block(implementation->table->tiles.row_block, dim);
  Problem problem;
  if (const Status status = entry.make_problem(block, &problem); !status.ok())
    return state.SkipWithError(status.message());
  Buffer workspace(1 << 20); // more than any block needs
  Context context;
  context.threads = 1;
  context.implementation = implementation;
  context.workspace = workspace.data();
  context.workspace_bytes = workspace.count() * sizeof(float);
  const auto call = [&] { return run_call(entry.name, problem, entry.kernel, context); };
  const double pairs = static_cast<double>(block.rows * key_count);
  run_measured(state, call, {pairs * static_cast<double>(dim) * entry.flops, isa, 1},
               entry.flops > 0 ? 0 : pairs);
}

void run_exp2(benchmark::State& state, const KernelTable& table) {
  constexpr std::int64_t count = 4096;
  Buffer x(count), y(count);
  for (std::int64_t i = 0; i < count; ++i)
    x.data()[i] = -static_cast<float>(i) / 256;
  const auto call = [&]() -> Status {
    table.exp2(x.data(), y.data(), count);
    return {};
  };
  run_measured(state, call, {0, table.name, 1}, count);
}

} // namespace

void add_kernel_benchmarks() {
  for (const char* isa : supported_implementations()) {
    const KernelTable& table = *find_implementation(isa)->table;
    const auto add = [&](const std::string& name, const auto& body) {
      add_benchmark("kernel/" + name + '/' + isa + "/threads:1", body);
    };
    for (const Entry& entry : entries) {
      if (entry.flops == 0) { // any dim
        add(entry.name, [=, &entry](benchmark::State& state) { run_entry(state, entry, isa, 64); });
        continue;
      }
      for (const std::int64_t dim : {40, 64, 128}) {
        std::string name = entry.name;
        name.append("_").append(std::to_string(dim));
        add(name, [=, &entry](benchmark::State& state) { run_entry(state, entry, isa, dim); });
      }
    }
    add("exp2", [&](benchmark::State& state) { run_exp2(state, table); });
  }
}

} // namespace simdattn::bench
