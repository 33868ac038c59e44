// A call with a workspace allocates nothing. The program's malloc and operator new are replaced by
// ones that count.

#include "support/implementations.hpp"
#include "support/parallel.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <vector>

namespace {
std::atomic<long> allocations{0};
}

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  ++allocations;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? 12 : 0;
}
} // operator new calls malloc

namespace simdattn::test {
namespace {

AttentionCase description() {
  AttentionCase c;
  c.heads = 4;
  c.kv_heads = 2;
  c.queries = 130;
  c.keys = 300;
  c.dim = c.value_dim = 40;
  c.options.causal = Causal::top_left;
  return c;
}

class Allocation : public ImplementationTest {
protected:
  // How often one call of a problem allocates, the first one apart.
  long count(Context context) const {
    TestProblem problem(description());
    problem.fill(1);
    const AttentionTensors tensors = problem.tensors();
    context.implementation = implementation();
    std::size_t bytes = 0;
    EXPECT_OK(workspace_size(tensors, problem.description.options, context, &bytes));
    std::vector<std::byte> workspace(bytes);
    if (context.workspace_bytes != no_workspace) {
      context.workspace = workspace.data();
      context.workspace_bytes = bytes;
    }
    Status status = scaled_dot_product_attention(tensors, problem.description.options, context);
    const long before = allocations;
    status = scaled_dot_product_attention(tensors, problem.description.options, context);
    const long after = allocations;
    EXPECT_OK(status);
    EXPECT_TRUE(is_correct(problem));
    return after - before;
  }

  static constexpr std::size_t no_workspace = ~std::size_t{0};
};

TEST_P(Allocation, there_is_none_with_a_workspace) {
  for (const int threads : {1, 2}) {
    Context context;
    context.threads = threads;
    EXPECT_EQ(count(context), 0) << threads << " threads";
    context.parallel_for = one_by_one();
    EXPECT_EQ(count(context), 0) << threads << " workers of the caller's";
  }
}

TEST_P(Allocation, there_is_one_without) {
  Context context;
  context.threads = 1;
  context.workspace_bytes = no_workspace;
  EXPECT_EQ(count(context), 1);
}

TEST(AllocationOfErrors, there_is_none) {
  const AttentionTensors nothing;
  const long before = allocations;
  const Status status = scaled_dot_product_attention(nothing);
  EXPECT_EQ(allocations, before);
  EXPECT_FALSE(status.ok());
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(Allocation);

} // namespace
} // namespace simdattn::test
