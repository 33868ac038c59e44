#include "speed_table.hpp"

#include "error.hpp"
#include "execute.hpp"
#include "lesson.hpp"
#include "measure.hpp"
#include "peak/peak.hpp"
#include "reference/reference.hpp"
#include "simdattn/simdattn.hpp"

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#ifdef SIMDATTN_WITH_ONEDNN
#include "baselines/onednn.hpp"
#endif

namespace simdattn::command {
namespace {

constexpr int calls = 7;
constexpr double budget_seconds =
    8; // for one contender; enough for all calls but on a slow machine

struct Workload {
  const char* name;
  std::int64_t heads, length, dim;
};
constexpr Workload workloads[] = {{"BERT-base", 12, 384, 64}, {"Llama-like", 32, 1024, 128}};

struct Inputs {
  explicit Inputs(const Workload& workload)
      : query(random_normal({1, workload.heads, workload.length, workload.dim}, 1)),
        key(random_normal(query.shape, 2)), value(random_normal(query.shape, 3)),
        output(zeros(DataType::f32, query.shape)) {
    tensors.query = tensor_view(query);
    tensors.key = tensor_view(key);
    tensors.value = tensor_view(value);
    tensors.output = mutable_view(output);
  }
  Array query, key, value, output;
  AttentionTensors tensors;
};

// One contender's figures; what is 0 is not printed.
struct Row {
  std::string name;
  double seconds = 0;
  double flops = 0;
  double percent_of_peak = 0;
};

void print_row(const Row& row, double reference_seconds) {
  std::printf("  %-14s %9.2f %9.1f ", row.name.c_str(), row.seconds * 1e3,
              row.flops / row.seconds * 1e-9);
  if (row.percent_of_peak > 0) {
    std::printf("%9.0f ", row.percent_of_peak);
  } else {
    std::printf("%9s ", "-");
  }
  std::printf("%11.1f\n", reference_seconds / row.seconds);
  std::fflush(stdout);
}

// Times a contender that uses the vectors of `isa`. The clock moves, so the peak is sampled after
// each call.
Row time_contender(const std::string& name, const char* isa, int threads, double flops,
                   const std::function<void()>& call) {
  call(); // the first one also pays for new memory
  std::vector<double> percents;
  const Timing timing = measure(call, calls, budget_seconds, [&](double seconds) {
    percents.push_back(100 * flops / seconds * 1e-9 / peak::fma_gflops(isa, threads));
  });
  return {name, timing.median_seconds, flops, median(percents)};
}

// The first head alone, on one thread: all of them would take too long.
double time_reference(const Inputs& inputs) {
  AttentionTensors one_head = inputs.tensors;
  one_head.query.size[1] = one_head.key.size[1] = one_head.value.size[1] = 1;
  const Timing timing = measure([&] { reference::attention(one_head, {}); }, 1, budget_seconds);
  return timing.median_seconds * static_cast<double>(inputs.tensors.query.size[1]);
}

void print_onednn(const Inputs& inputs, const char* isa, int threads, double flops,
                  double reference_seconds) {
#ifdef SIMDATTN_WITH_ONEDNN
  std::unique_ptr<baseline::OnednnAttention> attention;
  const Status status = baseline::OnednnAttention::create(inputs.tensors, {}, threads, &attention);
  if (!status.ok()) {
    std::printf("  oneDNN: %s\n", status.message());
    return;
  }
  print_row(time_contender("oneDNN " + baseline::onednn_version(), isa, threads, flops,
                           [&] { require_ok(attention->run(inputs.tensors)); }),
            reference_seconds);
#else
  static_cast<void>(inputs), static_cast<void>(isa), static_cast<void>(threads),
      static_cast<void>(flops);
  static_cast<void>(reference_seconds);
  std::printf("  oneDNN: was not found when this command was built\n");
#endif
}

void print_table(const Workload& workload, int threads) {
  const Inputs inputs(workload);
  const double flops = attention_flops(inputs.tensors, {});
  std::printf("\n%s %s, float32, %d threads\n", workload.name,
              shape_text(inputs.query.shape).c_str(), threads);
  std::printf("  %-14s %9s %9s %9s %11s\n", "", "time ms", "GFLOP/s", "% of peak", "x reference");
  const double reference_seconds = time_reference(inputs);
  const char* best = nullptr;
  for (int index = 0; index < implementation_count(); ++index) {
    Context context;
    context.threads = threads;
    context.implementation = implementation_at(index);
    if (!implementation_supported(context.implementation)) continue;
    const char* name = implementation_name(context.implementation);
    if (best == nullptr) best = name;
    print_row(time_contender(
                  name, name, threads, flops,
                  [&] { require_ok(scaled_dot_product_attention(inputs.tensors, {}, context)); }),
              reference_seconds);
  }
  print_onednn(inputs, best, threads, flops, reference_seconds);
  print_row({"reference", reference_seconds, flops, 0}, reference_seconds);
  std::printf(
      "  reference: the plain loops in double on one thread, from the time of 1 of %d heads\n",
      static_cast<int>(workload.heads));
}

} // namespace

void print_speed_tables(int threads) {
  Context context;
  context.threads = threads;
  std::printf("\nSpeed: medians of %d calls. The peak is that of multiply-adds in registers on the "
              "same threads,\n"
              "with the vectors of the same instruction set; oneDNN's is that of the first row.\n",
              calls);
  for (const Workload& workload : workloads)
    print_table(workload, thread_limit(context));
}

} // namespace simdattn::command
