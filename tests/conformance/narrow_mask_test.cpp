// Additive masks of 16 bits.

#include "reference/elements.hpp"
#include "simdattn/attention.hpp"
#include "support/implementations.hpp"
#include "support/status.hpp"
#include "support/test_problem.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace simdattn::test {
namespace {

class NarrowMask : public ImplementationTest {
protected:
  Context context() const {
    Context context;
    context.implementation = implementation();
    return context;
  }

  // Keys of zeros score 0, so that the scores are the mask: every number that 16 bits hold.
  template <class T>
  void expect_every_number_as_it_is() const {
    constexpr std::int64_t rows = 256, keys = 256;
    const std::vector<float> query(rows, 1.0f), key(keys, 0.0f);
    std::vector<float> scores(rows * keys);
    std::vector<T> mask(rows * keys);
    for (std::size_t bits = 0; bits < mask.size(); ++bits)
      mask[bits].bits = static_cast<std::uint16_t>(bits);
    AttentionTensors tensors;
    tensors.query = sd(query.data(), rows, 1);
    tensors.key = sd(key.data(), keys, 1);
    tensors.mask = sd(static_cast<const T*>(mask.data()), rows, keys);
    tensors.weights = sd(scores.data(), rows, keys);
    ASSERT_OK(attention_scores(tensors, ScoreStage::masked, {}, context()));
    for (std::size_t i = 0; i < mask.size(); ++i) {
      const double expected = reference::number(mask[i]);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(scores[i])) << "bits " << i;
      } else {
        // A block of a mask that is nothing but such small numbers counts as 0.
        const double negligible = std::abs(expected) < 0x1p-63 ? 0x1p-63 : 0;
        ASSERT_TRUE(scores[i] == expected || std::abs(scores[i] - expected) < negligible)
            << "bits " << i << ": " << scores[i];
      }
    }
  }

  // A whole call gives the bits that it gives with the same numbers in f32.
  template <class T>
  void expect_as_if_wide(const AttentionCase& c, T lowest) const {
    TestProblem narrow(c), wide(c);
    narrow.fill(1);
    wide.fill_from(narrow);
    TestTensor values({1, c.heads, c.queries, c.keys}, Layout::bhsd);
    std::vector<T> elements;
    for_each_index(values.shape(), [&](auto b, auto h, auto i, auto j) {
      const auto index = static_cast<std::uint16_t>(elements.size());
      T element{static_cast<std::uint16_t>(index * 40503u & 0xbfffu)}; // finite, below 2 in size
      if (index % 5 == 0) element = lowest;
      elements.push_back(element);
      values.at(b, h, i, j) = static_cast<float>(reference::number(element));
    });
    narrow.others.mask =
        bhsd(static_cast<const T*>(elements.data()), 1, c.heads, c.queries, c.keys);
    wide.others.mask = values.view();
    ASSERT_OK(narrow.run(implementation()));
    ASSERT_OK(wide.run(implementation()));
    EXPECT_TRUE(same_elements(narrow.output, wide.output));
    EXPECT_TRUE(same_elements(narrow.lse, wide.lse));
    EXPECT_TRUE(is_correct(narrow));
  }
};

TEST_P(NarrowMask, adds_every_f16_as_it_is) { expect_every_number_as_it_is<Float16>(); }
TEST_P(NarrowMask, adds_every_bf16_as_it_is) { expect_every_number_as_it_is<BFloat16>(); }

TEST_P(NarrowMask, equals_the_same_mask_in_f32) {
  AttentionCase c;
  c.batch = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.dim = c.value_dim = 20;
  for (const std::int64_t queries : {1, 70}) { // by rows and by panels
    c.queries = queries;
    c.keys = 133;
    expect_as_if_wide(c, Float16{0xfbff});
    expect_as_if_wide(c, Float16{0xfc00});
    expect_as_if_wide(c, BFloat16{0xff7f});
    expect_as_if_wide(c, BFloat16{0xff80});
  }
}

SIMDATTN_FOR_EACH_IMPLEMENTATION(NarrowMask);

} // namespace
} // namespace simdattn::test
