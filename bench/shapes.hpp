#pragma once
// The shapes that figures are given for, by the names that benchmarks and tables use.

#include "simdattn/attention.hpp"

#include <cstdint>

namespace simdattn::bench {

enum class Layout : std::uint8_t { bhsd, bshd };

struct Shape {
  const char* name;
  std::int64_t batch, heads, kv_heads, queries, keys, dim, value_dim;
  Causal causal = Causal::none;
  Layout layout = Layout::bhsd; ///< of all four tensors
};

/// Whether reading keys and values may take longer than the arithmetic.
constexpr bool few_queries(const Shape& shape) { return 8 * shape.queries <= shape.keys; }

/// Layers of models. Where a model's own attention is causal, both kinds are here: the plain one is
/// what other libraries publish figures for.
inline constexpr Shape shapes[] = {
    // "The lesson": the shapes of the two examples that the documentation walks through.
    {"lesson", 4, 1, 1, 10, 10, 64, 64},
    {"lesson_wide_value", 8, 1, 1, 128, 128, 32, 64},
    {"tiny_32", 1, 32, 32, 32, 32, 128, 128},
    {"vit_197", 1, 12, 12, 197, 197, 64, 64},
    {"bert_base_128", 1, 12, 12, 128, 128, 64, 64},
    {"bert_base_384", 1, 12, 12, 384, 384, 64, 64},
    {"bert_base_512", 1, 12, 12, 512, 512, 64, 64},
    {"gpt2_medium_1024", 1, 16, 16, 1024, 1024, 64, 64},
    {"gpt2_medium_1024_causal", 1, 16, 16, 1024, 1024, 64, 64, Causal::top_left},
    {"llama_7b_1024", 1, 32, 32, 1024, 1024, 128, 128},
    {"llama_7b_1024_causal", 1, 32, 32, 1024, 1024, 128, 128, Causal::top_left},
    {"llama_7b_1024_bshd", 1, 32, 32, 1024, 1024, 128, 128, Causal::none, Layout::bshd},
    {"llama_7b_2048", 1, 32, 32, 2048, 2048, 128, 128},
    {"llama_7b_2048_causal", 1, 32, 32, 2048, 2048, 128, 128, Causal::top_left},
    {"gqa_32_8_1024", 1, 32, 8, 1024, 1024, 128, 128},
    {"gqa_32_8_1024_causal", 1, 32, 8, 1024, 1024, 128, 128, Causal::top_left},
    {"stable_diffusion_40", 1, 8, 8, 4096, 4096, 40, 40},
    {"stable_diffusion_64", 1, 8, 8, 4096, 4096, 64, 64},
    // Decoding: few queries on a cache. few_<queries>_<heads>_<KV heads>_<keys>.
    {"few_1_32_32_512", 1, 32, 32, 1, 512, 128, 128},
    {"few_1_32_32_4096", 1, 32, 32, 1, 4096, 128, 128},
    {"few_1_32_32_32768", 1, 32, 32, 1, 32768, 128, 128},
    {"few_1_32_8_512", 1, 32, 8, 1, 512, 128, 128},
    {"few_1_32_8_4096", 1, 32, 8, 1, 4096, 128, 128},
    {"few_1_32_8_32768", 1, 32, 8, 1, 32768, 128, 128},
    {"few_2_32_32_512", 1, 32, 32, 2, 512, 128, 128},
    {"few_2_32_32_4096", 1, 32, 32, 2, 4096, 128, 128},
    {"few_2_32_32_32768", 1, 32, 32, 2, 32768, 128, 128},
    {"few_2_32_8_512", 1, 32, 8, 2, 512, 128, 128},
    {"few_2_32_8_4096", 1, 32, 8, 2, 4096, 128, 128},
    {"few_2_32_8_32768", 1, 32, 8, 2, 32768, 128, 128},
    {"few_4_32_32_512", 1, 32, 32, 4, 512, 128, 128},
    {"few_4_32_32_4096", 1, 32, 32, 4, 4096, 128, 128},
    {"few_4_32_32_32768", 1, 32, 32, 4, 32768, 128, 128},
    {"few_4_32_8_512", 1, 32, 8, 4, 512, 128, 128},
    {"few_4_32_8_4096", 1, 32, 8, 4, 4096, 128, 128},
    {"few_4_32_8_32768", 1, 32, 8, 4, 32768, 128, 128},
    {"few_8_32_32_512", 1, 32, 32, 8, 512, 128, 128},
    {"few_8_32_32_4096", 1, 32, 32, 8, 4096, 128, 128},
    {"few_8_32_32_32768", 1, 32, 32, 8, 32768, 128, 128},
    {"few_8_32_8_512", 1, 32, 8, 8, 512, 128, 128},
    {"few_8_32_8_4096", 1, 32, 8, 8, 4096, 128, 128},
    {"few_8_32_8_32768", 1, 32, 8, 8, 32768, 128, 128},
    {"few_16_32_32_512", 1, 32, 32, 16, 512, 128, 128},
    {"few_16_32_32_4096", 1, 32, 32, 16, 4096, 128, 128},
    {"few_16_32_32_32768", 1, 32, 32, 16, 32768, 128, 128},
    {"few_16_32_8_512", 1, 32, 8, 16, 512, 128, 128},
    {"few_16_32_8_4096", 1, 32, 8, 16, 4096, 128, 128},
    {"few_16_32_8_32768", 1, 32, 8, 16, 32768, 128, 128},
};

/// One head whose queries and keys double: how time and memory grow.
inline constexpr Shape growth_shapes[] = {
    {"growth_128", 1, 1, 1, 128, 128, 64, 64},
    {"growth_256", 1, 1, 1, 256, 256, 64, 64},
    {"growth_512", 1, 1, 1, 512, 512, 64, 64},
    {"growth_1024", 1, 1, 1, 1024, 1024, 64, 64},
    {"growth_2048", 1, 1, 1, 2048, 2048, 64, 64},
    {"growth_4096", 1, 1, 1, 4096, 4096, 64, 64},
    {"growth_8192", 1, 1, 1, 8192, 8192, 64, 64},
    {"growth_16384", 1, 1, 1, 16384, 16384, 64, 64},
    {"growth_32768", 1, 1, 1, 32768, 32768, 64, 64},
    {"growth_65536", 1, 1, 1, 65536, 65536, 64, 64},
};

} // namespace simdattn::bench
