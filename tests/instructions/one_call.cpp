// simdattn_one_call IMPLEMENTATION CASE makes one fused call, on one thread, planned for caches of
// fixed sizes. count.py runs it under callgrind, which counts between entering and leaving
// simdattn_counted_call(). Without arguments it lists the cases.

#include "dispatch.hpp"
#include "execute.hpp"
#include "plan.hpp"
#include "support/bool_mask.hpp"
#include "support/test_problem.hpp"
#include "validate.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>

namespace simdattn::test {
namespace {

constexpr CacheSizes pinned_caches{.l1 = 32 * 1024, .l2 = 1024 * 1024, .l3 = 16 * 1024 * 1024};

enum class MaskOf : std::uint8_t { none, booleans, numbers };

struct CountedCase {
  const char* name;
  std::int64_t batch, heads, kv_heads, queries, keys, dim;
  Causal causal = Causal::none;
  MaskOf mask = MaskOf::none;
};
constexpr CountedCase cases[] = {
    {"prefill_64", 1, 1, 1, 512, 512, 64},
    {"causal_128", 1, 1, 1, 512, 512, 128, Causal::top_left},
    {"few_queries_128", 1, 8, 2, 1, 4096, 128},
    {"fixed_cost_8", 1, 1, 1, 1, 1, 8},
    {"tiny_64", 4, 1, 1, 10, 10, 64},
    {"boolean_mask_64", 1, 1, 1, 384, 384, 64, Causal::none, MaskOf::booleans},
    {"additive_mask_64", 1, 1, 1, 384, 384, 64, Causal::none, MaskOf::numbers},
};

/// Random numbers, and every third key excluded.
TestTensor random_mask(std::int64_t queries, std::int64_t keys) {
  TestTensor mask({1, 1, queries, keys}, Layout::bhsd);
  std::mt19937_64 random(2);
  mask.fill_normal(random);
  for_each_index(mask.shape(), [&](auto b, auto h, auto i, auto j) {
    if (random() % 3 == 0) mask.at(b, h, i, j) = -INFINITY;
  });
  return mask;
}

struct PlannedCall {
  const KernelTable& table;
  TestProblem problem;
  std::byte* workspace = nullptr;

  /// All that a call does but for finding its implementation and its caches.
  Status run() {
    Problem valid;
    if (Status status = validate_attention(problem.tensors(), problem.description.options, &valid);
        !status.ok())
      return status;
    execute(valid, plan(valid), table, &KernelTable::fused, workspace, {});
    return {};
  }
  Plan plan(const Problem& valid) const { return make_plan(valid, table.tiles, pinned_caches, 1); }
};

} // namespace

extern "C" [[gnu::noinline]] bool simdattn_counted_call(void* call) {
  return static_cast<PlannedCall*>(call)->run().ok();
}

namespace {

int run_case(const Implementation* implementation, const CountedCase& counted) {
  AttentionCase description;
  description.batch = counted.batch;
  description.heads = counted.heads;
  description.kv_heads = counted.kv_heads;
  description.queries = counted.queries;
  description.keys = counted.keys;
  description.dim = description.value_dim = counted.dim;
  description.options.causal = counted.causal;
  description.want_lse = description.want_weights = false;
  PlannedCall call{*implementation->table, TestProblem(description)};
  call.problem.fill(1);
  const TestTensor additive = random_mask(counted.queries, counted.keys);
  const BoolMask boolean(additive);
  if (counted.mask != MaskOf::none)
    call.problem.others.mask = counted.mask == MaskOf::booleans ? boolean.view() : additive.view();

  Problem valid;
  Status status = validate_attention(call.problem.tensors(), description.options, &valid);
  const std::size_t bytes = status.ok() ? call.plan(valid).workspace_bytes : 0;
  const GuardedBuffer workspace(
      (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment, Placement::back);
  call.workspace = workspace.data();
  // The first call resolves what the dynamic linker has left for later, and is not counted.
  if (status.ok()) status = call.run();
  if (status.ok() && simdattn_counted_call(&call)) return 0;
  std::fprintf(stderr, "%s\n", status.message());
  return 1;
}

int run(const char* name, const char* case_name) {
  const Implementation* implementation = find_implementation(name);
  if (implementation == nullptr) {
    std::fprintf(stderr, "there is no implementation %s\n", name);
    return 2;
  }
  if (!implementation_supported(implementation)) {
    std::fprintf(stderr, "this CPU can't run %s\n", name);
    return 77;
  }
  for (const CountedCase& counted : cases) {
    if (std::strcmp(counted.name, case_name) == 0) return run_case(implementation, counted);
  }
  std::fprintf(stderr, "there is no case %s\n", case_name);
  return 2;
}

} // namespace
} // namespace simdattn::test

int main(int argc, char** argv) {
  if (argc == 3) return simdattn::test::run(argv[1], argv[2]);
  for (const auto& counted : simdattn::test::cases)
    std::puts(counted.name);
  return 0;
}
