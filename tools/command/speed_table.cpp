#include "speed_table.hpp"

#include "error.hpp"
#include "execute.hpp"
#include "lesson.hpp"
#include "peak/measure.hpp"
#include "reference/reference.hpp"
#include "shapes.hpp"
#include "simdattn/simdattn.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#ifdef SIMDATTN_WITH_ONEDNN
#include "baselines/onednn.hpp"
#endif

namespace simdattn::command {
namespace {

constexpr double contender_seconds = 2; // for each contender and shape

constexpr std::string_view shown[] = {"bert_base_384", "llama_7b_1024"};

struct Inputs {
  explicit Inputs(const bench::Shape& shape)
      : query(random_normal({shape.batch, shape.heads, shape.queries, shape.dim}, 1)),
        key(random_normal({shape.batch, shape.kv_heads, shape.keys, shape.dim}, 2)),
        value(random_normal({shape.batch, shape.kv_heads, shape.keys, shape.value_dim}, 3)),
        output(zeros(DataType::f32, {shape.batch, shape.heads, shape.queries, shape.value_dim})) {
    tensors.query = tensor_view(query);
    tensors.key = tensor_view(key);
    tensors.value = tensor_view(value);
    tensors.output = mutable_view(output);
  }
  Array query, key, value, output;
  AttentionTensors tensors;
};

// What is 0 is not printed.
void print_row(const std::string& name, const peak::Figure& figure, double reference_seconds) {
  std::printf("  %-14s %9.2f %9.1f ", name.c_str(), figure.seconds * 1e3, figure.gflops);
  if (figure.percent_of_peak > 0) {
    std::printf("%9.0f ", figure.percent_of_peak);
  } else {
    std::printf("%9s ", "-");
  }
  std::printf("%11.1f\n", reference_seconds / figure.seconds);
  std::fflush(stdout);
}

peak::Figure time_contender(const peak::Work& work, const std::function<Status()>& call) {
  peak::Figure figure;
  require_ok(peak::measure(call, work, contender_seconds, &figure));
  return figure;
}

// The first head alone, on one thread: all of them would take too long.
peak::Figure time_reference(const Inputs& inputs, double flops) {
  AttentionTensors one_head = inputs.tensors;
  one_head.query.size[1] = one_head.key.size[1] = one_head.value.size[1] = 1;
  const auto start = std::chrono::steady_clock::now();
  reference::attention(one_head, {});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  peak::Figure figure;
  figure.seconds = seconds * static_cast<double>(inputs.tensors.query.size[1]);
  figure.gflops = 1e-9 * flops / figure.seconds;
  return figure;
}

#ifdef SIMDATTN_WITH_ONEDNN
void print_onednn(const Inputs& inputs, const peak::Work& work, double reference_seconds) {
  std::unique_ptr<baseline::OnednnAttention> attention;
  const Status status =
      baseline::OnednnAttention::create(inputs.tensors, {}, work.threads, &attention);
  if (!status.ok()) {
    std::printf("  oneDNN: %s\n", status.message());
    return;
  }
  const peak::Figure figure = time_contender(work, [&] { return attention->run(inputs.tensors); });
  print_row("oneDNN " + baseline::onednn_version(), figure, reference_seconds);
}
#else
void print_onednn(const Inputs&, const peak::Work&, double) {
  std::printf("  oneDNN was not found when this command was built\n");
}
#endif

void print_table(const bench::Shape& shape, int threads) {
  const Inputs inputs(shape);
  peak::Work work{peak::attention_flops(inputs.tensors, {}), nullptr, threads};
  std::printf("\n%s %s, float32, threads: %d\n", shape.name, shape_text(inputs.query.shape).c_str(),
              threads);
  std::printf("  %-14s %9s %9s %9s %11s\n", "", "time ms", "GFLOP/s", "% of peak", "x reference");
  const peak::Figure naive = time_reference(inputs, work.flops);
  const char* best = nullptr;
  for (int index = 0; index < implementation_count(); ++index) {
    Context context;
    context.threads = threads;
    context.implementation = implementation_at(index);
    if (!implementation_supported(context.implementation)) continue;
    work.isa = implementation_name(context.implementation);
    if (best == nullptr) best = work.isa;
    const auto call = [&] { return scaled_dot_product_attention(inputs.tensors, {}, context); };
    print_row(work.isa, time_contender(work, call), naive.seconds);
  }
  work.isa = best;
  print_onednn(inputs, work, naive.seconds);
  print_row("reference", naive, naive.seconds);
  std::printf(
      "  reference: the plain loops in double on one thread, %d times the time of one head\n",
      static_cast<int>(shape.heads));
}

} // namespace

void print_speed_tables(int threads) {
  Context context;
  context.threads = threads;
  std::printf(
      "\nSpeed: medians over %g s for each. The peak is that of multiply-adds in registers,\n"
      "on as many threads and with vectors of the same instruction set; for oneDNN, with\n"
      "those of the first row.\n",
      contender_seconds);
  for (const bench::Shape& shape : bench::shapes) {
    if (std::ranges::count(shown, shape.name) > 0) print_table(shape, thread_limit(context));
  }
}

} // namespace simdattn::command
