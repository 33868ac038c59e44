#include "verbose.hpp"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simdattn {

bool verbose() noexcept {
  static const bool wanted = [] {
    const char* value = std::getenv("SIMDATTN_VERBOSE");
    return value != nullptr && value[0] != '\0' && std::strcmp(value, "0") != 0;
  }();
  return wanted;
}

double seconds_now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void print_call(const char* call, const Problem& problem, const KernelTable& table,
                const Plan& plan, double seconds) noexcept {
  constexpr const char* causal_names[] = {"none", "top_left", "bottom_right"};
  std::fprintf(
      stderr,
      "simdattn: %s batch=%" PRId64 " heads=%" PRId64 "/%" PRId64 " lq=%" PRId64 " lkv=%" PRId64
      " d=%d dv=%d causal=%s isa=%s panel=%d tile=%dx%d row_block=%d key_block=%d tasks=%" PRId64
      " workers=%d time=%.6f ms\n",
      call, problem.batch, problem.query_heads, problem.kv_heads, problem.query_count,
      problem.key_count, problem.dim, problem.value_dim,
      causal_names[static_cast<int>(problem.causal)], table.name, table.tiles.panel_rows,
      table.tiles.score_keys, table.tiles.output_dims, plan.row_block,
      keys_in_block(problem, table.tiles, plan, problem.packed_rows()), plan.tasks, plan.workers,
      seconds * 1e3);
}

} // namespace simdattn
