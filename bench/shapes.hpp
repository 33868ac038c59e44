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

/// Layers of models. Where a model's own attention is causal, both kinds are here: the plain one is
/// what other libraries publish figures for.
inline constexpr Shape shapes[] = {
    // "The lesson": the shapes of the two examples that the documentation walks through.
    {"lesson", 4, 1, 1, 10, 10, 64, 64},
    {"lesson_wide_value", 8, 1, 1, 128, 128, 32, 64},
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
};

} // namespace simdattn::bench
