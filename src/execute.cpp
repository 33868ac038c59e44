#include "execute.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace simdattn {
namespace {

/// One call under way. Workers take tasks from a counter until none is left, so that it does not matter how many of
/// them run at once.
struct Job {
  const Problem& problem;
  const Plan& plan;
  void (*kernel)(const AttentionBlock&);
  std::byte* scratch;
  std::atomic<std::int64_t> next_task{0};
};

template <class T>
const T* element(const TensorView& view, std::int64_t batch, std::int64_t head, std::int64_t row) {
  if (view.data == nullptr) return nullptr;
  return static_cast<const T*>(view.data) + batch * view.stride[0] + head * view.stride[1] + row * view.stride[2];
}

template <class T>
T* element(const MutableTensorView& view, std::int64_t batch, std::int64_t head, std::int64_t row) {
  if (view.data == nullptr) return nullptr;
  return static_cast<T*>(view.data) + batch * view.stride[0] + head * view.stride[1] + row * view.stride[2];
}

/// Where the keys that query `row` sees end; they begin at 0.
std::int64_t visible_end(const Problem& problem, std::int64_t row) {
  switch (problem.causal) {
  case Causal::none: break;
  case Causal::top_left: return std::min(row + 1, problem.key_count);
  case Causal::bottom_right:
    return std::clamp<std::int64_t>(row + 1 + problem.key_count - problem.query_count, 0, problem.key_count);
  }
  return problem.key_count;
}

QueryRow make_row(const Problem& problem, std::int64_t batch, std::int64_t kv_head, std::int64_t packed_row) {
  const std::int64_t token = packed_row / problem.group;
  const std::int64_t head = kv_head * problem.group + packed_row % problem.group;
  QueryRow row;
  row.query = element<float>(problem.query, batch, head, token);
  row.output = element<float>(problem.output, batch, head, token);
  row.lse = element<float>(problem.lse, batch, head, token);
  row.weights = element<float>(problem.weights, batch, head, token);
  row.first_key = 0;
  row.end_key = visible_end(problem, token);
  return row;
}

KernelScratch make_scratch(const ScratchLayout& layout, std::byte* base) {
  const auto floats = [&](std::size_t offset) { return reinterpret_cast<float*>(base + offset); };
  return {floats(layout.query),   floats(layout.output),   floats(layout.scores), floats(layout.row_max),
          floats(layout.row_sum), floats(layout.tile_max), base + layout.key,     base + layout.value};
}

void run_task(const Job& job, std::int64_t task, std::byte* scratch) {
  const Problem& problem = job.problem;
  const Plan& plan = job.plan;
  const std::int64_t kv_heads = task / plan.row_blocks;
  const std::int64_t batch = kv_heads / problem.kv_heads, kv_head = kv_heads % problem.kv_heads;
  // Causal: later rows see more keys, and the longest tasks of a head go first.
  const std::int64_t position = task % plan.row_blocks;
  const std::int64_t row_block = problem.causal == Causal::none ? position : plan.row_blocks - 1 - position;
  const std::int64_t first_row = row_block * plan.row_block;
  const int row_count =
      static_cast<int>(std::min<std::int64_t>(plan.row_block, problem.packed_rows() - first_row));

  auto* rows = reinterpret_cast<QueryRow*>(scratch + plan.layout.rows);
  for (int r = 0; r < row_count; ++r) rows[r] = make_row(problem, batch, kv_head, first_row + r);
  const KeySegment segment{element<float>(problem.key, batch, kv_head, 0),
                           element<float>(problem.value, batch, kv_head, 0),
                           problem.key_count,
                           problem.key.stride[2],
                           problem.key.stride[3],
                           problem.value.stride[2],
                           problem.value.stride[3],
                           plan.gather_key,
                           plan.gather_value};
  AttentionBlock block{};
  block.rows = rows;
  block.row_count = row_count;
  block.query_dim_stride = problem.query.stride[3];
  block.output_dim_stride = problem.output.stride[3];
  block.weights_stride = problem.weights.stride[3];
  block.segments = &segment;
  block.segment_count = 1;
  block.key_count = problem.key_count;
  block.dim = problem.dim;
  block.value_dim = problem.value_dim;
  block.scale = problem.scale;
  block.key_block = plan.key_block;
  block.scratch = make_scratch(plan.layout, scratch);
  job.kernel(block);
}

void run_worker(void* job_pointer, int worker) {
  Job& job = *static_cast<Job*>(job_pointer);
  std::byte* scratch = job.scratch + static_cast<std::size_t>(worker) * job.plan.worker_bytes;
  for (;;) {
    const std::int64_t task = job.next_task.fetch_add(1, std::memory_order_relaxed);
    if (task >= job.plan.tasks) return;
    run_task(job, task, scratch);
  }
}

int processor_count() noexcept {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<int>(std::min(count, 1024L)) : 1;
}

} // namespace

int thread_limit(const Context& context) noexcept {
  if (context.threads > 0) return context.threads;
  if (context.parallel_for.run != nullptr) return processor_count();
#ifdef _OPENMP
  // Inside a caller's parallel region OpenMP would give one thread anyway, unless nesting is on.
  return omp_in_parallel() != 0 && omp_get_active_level() >= omp_get_max_active_levels() ? 1 : omp_get_max_threads();
#else
  return 1;
#endif
}

void execute(const Problem& problem, const Plan& plan, void (*kernel)(const AttentionBlock&), std::byte* scratch,
             const ParallelFor& parallel_for) noexcept {
  Job job{problem, plan, kernel, scratch};
  if (plan.workers == 1) {
    run_worker(&job, 0);
  } else if (parallel_for.run != nullptr) {
    parallel_for.run(parallel_for.pool, plan.workers, run_worker, &job);
  } else {
#ifdef _OPENMP
#pragma omp parallel num_threads(plan.workers)
    run_worker(&job, omp_get_thread_num());
#else
    run_worker(&job, 0);
#endif
  }
}

} // namespace simdattn
