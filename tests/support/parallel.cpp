#include "parallel.hpp"

#include <thread>
#include <vector>

namespace simdattn::test {

ParallelFor on_threads() noexcept {
  ParallelFor parallel_for;
  parallel_for.run = [](void*, int workers, void (*body)(void*, int), void* job) {
    std::vector<std::thread> threads;
    for (int worker = 0; worker < workers; ++worker)
      threads.emplace_back(body, job, worker);
    for (std::thread& thread : threads)
      thread.join();
  };
  return parallel_for;
}

ParallelFor one_by_one() noexcept {
  ParallelFor parallel_for;
  parallel_for.run = [](void*, int workers, void (*body)(void*, int), void* job) {
    for (int worker = workers; worker-- > 0;)
      body(job, worker);
  };
  return parallel_for;
}

} // namespace simdattn::test
