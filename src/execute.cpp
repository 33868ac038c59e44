#include "execute.hpp"

#include "task.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace simdattn {
namespace {

/// One call under way. Workers take tasks from a counter until none is left, so that it does not
/// matter how many of them run at once.
struct Job {
  const Problem& problem;
  const Plan& plan;
  const KernelTable& table;
  KernelEntry entry;
  std::byte* scratch;
  std::atomic<std::int64_t> next_task{0};

  float* partials(std::int64_t place) const {
    std::byte* first = scratch + static_cast<std::size_t>(plan.workers) * plan.worker_bytes;
    return reinterpret_cast<float*>(first + static_cast<std::size_t>(place) * plan.partial_bytes);
  }
  /// How many chunks of a unit are done, where chunks are tasks.
  std::atomic<int>& chunks_done(std::int64_t unit) const {
    return reinterpret_cast<std::atomic<int>*>(partials(plan.units))[unit];
  }
};

/// Sums one chunk of a unit's keys and keeps the sums.
void run_chunk(const Job& job, Task& task, float* partials, int chunk) {
  AttentionBlock& block = task.block;
  block.first_key = chunk * task.chunks.keys;
  block.end_key = std::min(block.first_key + task.chunks.keys, block.key_count);
  block.partials =
      partials + static_cast<std::int64_t>(chunk) * block.row_count * (block.value_dim + 2);
  (job.table.*job.entry)(block);
}

void merge_chunks(const Job& job, Task& task, float* partials) {
  task.block.partials = partials;
  task.block.partial_count = task.chunks.count;
  job.table.merge(task.block);
  task.finish();
}

/// A whole unit.
void run_unit(const Job& job, std::int64_t unit, int worker, std::byte* scratch) {
  Task task(job.problem, job.plan, job.table.tiles, unit, scratch);
  if (task.block.row_count == 0) return;
  if (task.chunks.count == 1) {
    (job.table.*job.entry)(task.block);
    return task.finish();
  }
  float* partials = job.partials(worker);
  for (int chunk = 0; chunk < task.chunks.count; ++chunk)
    run_chunk(job, task, partials, chunk);
  merge_chunks(job, task, partials);
}

/// One chunk of a unit; who does the last one joins them all, in their order.
void run_chunk_task(const Job& job, std::int64_t unit, int chunk, std::byte* scratch) {
  Task task(job.problem, job.plan, job.table.tiles, unit, scratch);
  if (task.block.row_count == 0 || chunk >= task.chunks.count) return;
  if (task.chunks.count == 1) {
    (job.table.*job.entry)(task.block);
    return task.finish();
  }
  float* partials = job.partials(unit);
  run_chunk(job, task, partials, chunk);
  if (job.chunks_done(unit).fetch_add(1, std::memory_order_acq_rel) == task.chunks.count - 1) {
    merge_chunks(job, task, partials);
  }
}

void run_worker(void* job_pointer, int worker) {
  Job& job = *static_cast<Job*>(job_pointer);
  std::byte* scratch = job.scratch + static_cast<std::size_t>(worker) * job.plan.worker_bytes;
  for (;;) {
    const std::int64_t task = job.next_task.fetch_add(1, std::memory_order_relaxed);
    if (task >= job.plan.tasks) return;
    if (job.plan.chunk_tasks) {
      run_chunk_task(job, task / job.plan.chunks, static_cast<int>(task % job.plan.chunks),
                     scratch);
    } else {
      run_unit(job, task, worker, scratch);
    }
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
  return omp_in_parallel() != 0 && omp_get_active_level() >= omp_get_max_active_levels()
             ? 1
             : omp_get_max_threads();
#else
  return 1;
#endif
}

void execute(const Problem& problem, const Plan& plan, const KernelTable& table, KernelEntry entry,
             std::byte* scratch, const ParallelFor& parallel_for) noexcept {
  Job job{problem, plan, table, entry, scratch};
  if (plan.chunk_tasks) {
    for (std::int64_t unit = 0; unit < plan.units; ++unit)
      new (&job.chunks_done(unit)) std::atomic<int>(0);
  }
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
