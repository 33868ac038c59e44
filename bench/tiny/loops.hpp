#pragma once
// Attention as anyone would write it down: loops over floats, for the compiler to make fast with
// the flags of each instruction set.

#include "simdattn/attention.hpp"

#include <cstdint>

namespace simdattn::bench {

/// Dense tensors: [batch, heads, seq, dim] of query and output, [batch, kv_heads, seq, dim] of key
/// and value.
struct LoopCall {
  std::int64_t batch, heads, kv_heads, queries, keys, dim, value_dim;
  float scale;
  const float *query, *key, *value;
  float* output;
  float* weights; ///< room for `keys` numbers
};

using LoopFunction = void (*)(const LoopCall&);

/// One instruction set's loops.
struct Loops {
  LoopFunction plain;     ///< -O3
  LoopFunction fast_math; ///< -O3 -ffast-math, which lets sums be vectorised
};

/// Those with the flags of an implementation; nullptr when there is none of that name.
const Loops* find_loops(const char* isa);

} // namespace simdattn::bench
