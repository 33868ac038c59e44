// What a call leaves alone: the floating-point mode and the stack.

#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <pthread.h>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace simdattn::test {
namespace {

#if defined(__SSE__)
using Mode = unsigned;
constexpr Mode flush_to_zero = 0x8040; // FTZ and DAZ
constexpr Mode control_bits = 0xffc0;  // without the sticky exception flags
Mode mode() { return _mm_getcsr() & control_bits; }
void set_mode(Mode bits) { _mm_setcsr(bits); }
#elif defined(__aarch64__)
using Mode = std::uint64_t;
constexpr Mode flush_to_zero = Mode{1} << 24;
Mode mode() {
  Mode bits;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
}
void set_mode(Mode bits) { asm volatile("msr fpcr, %0" : : "r"(bits)); }
#endif

AttentionCase description() {
  AttentionCase c;
  c.heads = 2;
  c.kv_heads = 1;
  c.queries = 100;
  c.keys = 300;
  c.dim = 64;
  c.value_dim = 64;
  return c;
}

class LeftAlone : public ImplementationTest {};

#if defined(__SSE__) || defined(__aarch64__)
TEST_P(LeftAlone, the_floating_point_mode) {
  const Mode before = mode();
  for (const Mode bits : {before, before | flush_to_zero}) {
    TestProblem problem(description());
    problem.fill(1);
    set_mode(bits);
    const Status status = problem.run(implementation());
    const Mode after = mode();
    set_mode(before);
    ASSERT_OK(status);
    EXPECT_EQ(after, bits);
    EXPECT_TRUE(is_correct(problem)) << "mode " << bits;
  }
}

TEST_P(LeftAlone, results_by_flush_to_zero_on_data_whose_weights_are_tiny) {
  TestProblem problem(description());
  problem.fill(2, 20);
  const Mode before = mode();
  set_mode(before | flush_to_zero);
  const Status status = problem.run(implementation());
  set_mode(before);
  ASSERT_OK(status);
  EXPECT_TRUE(is_correct(problem));
}
#endif

// Runs `body` on a painted stack and returns how much of it was used.
std::size_t stack_use(const std::function<void()>& body) {
  constexpr unsigned char paint = 0xa5;
  std::vector<unsigned char> stack(1 << 20, paint);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack.data(), stack.size());
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  EXPECT_EQ(
      pthread_create(&thread, &attributes, run, const_cast<void*>(static_cast<const void*>(&body))),
      0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  std::size_t untouched = 0;
  while (untouched < stack.size() && stack[untouched] == paint)
    ++untouched;
  return stack.size() - untouched;
}

TEST_P(LeftAlone, the_stack_but_for_16_kb) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer puts its own data on the stack";
#endif
  TestProblem problem(description());
  problem.fill(3);
  const AttentionTensors tensors = problem.tensors();
  Context context;
  context.implementation = implementation();
  context.threads = 1;
  std::size_t bytes = 0;
  ASSERT_OK(workspace_size(tensors, {}, context, &bytes));
  std::vector<std::byte> workspace(bytes);
  context.workspace = workspace.data();
  context.workspace_bytes = bytes;
  Status status;
  // Everything that is done once is done by the first call: lazy binding takes stack too.
  status = scaled_dot_product_attention(tensors, {}, context);
  const std::size_t of_a_thread = stack_use([] {});
  const std::size_t of_the_call =
      stack_use([&] { status = scaled_dot_product_attention(tensors, {}, context); });
  ASSERT_OK(status);
  EXPECT_LT(of_the_call, of_a_thread + 16 * 1024);
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(LeftAlone);

} // namespace
} // namespace simdattn::test
