// Keys and values that are larger than caches: few-query products may ask for memory differently
// then, and must give the same.

#include "simdattn/simdattn.hpp"
#include "support/implementations.hpp"
#include "support/test_tensor.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace simdattn::test {
namespace {

constexpr std::int64_t heads = 128, keys = 2048, dim = 40; // 84 MB, were no two heads the same

class FromMemory : public ImplementationTest {};

TEST_P(FromMemory, a_head_is_what_it_is_alone) {
  std::mt19937_64 random(7);
  TestTensor key({1, heads, keys, dim}, Layout::expanded_head),
      value({1, heads, keys, dim}, Layout::expanded_head);
  key.fill_normal(random);
  value.fill_normal(random);
  Context context;
  context.implementation = implementation();
  for (const std::int64_t queries : {1, 2, 3, 4, 8}) {
    TestTensor query({1, heads, queries, dim}, Layout::bhsd),
        output({1, heads, queries, dim}, Layout::bhsd), alone({1, 1, queries, dim}, Layout::bhsd);
    query.fill_normal(random);
    AttentionTensors tensors;
    tensors.query = query.view();
    tensors.key = key.view();
    tensors.value = value.view();
    tensors.output = output.mutable_view();
    ASSERT_TRUE(scaled_dot_product_attention(tensors, {}, context).ok());
    for (const std::int64_t head : {std::int64_t{0}, std::int64_t{77}, heads - 1}) {
      AttentionTensors one = tensors;
      one.query.data = static_cast<const float*>(one.query.data) + head * one.query.stride[1];
      one.query.size[1] = 1;
      one.key.size[1] = one.value.size[1] = 1;
      one.output = alone.mutable_view();
      ASSERT_TRUE(scaled_dot_product_attention(one, {}, context).ok());
      const auto* together =
          static_cast<const float*>(tensors.output.data) + head * tensors.output.stride[1];
      EXPECT_EQ(std::memcmp(together, one.output.data,
                            static_cast<std::size_t>(queries * dim) * sizeof(float)),
                0)
          << queries << " queries, head " << head;
    }
  }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(FromMemory);

} // namespace
} // namespace simdattn::test
