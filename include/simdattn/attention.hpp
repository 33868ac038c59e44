#pragma once
/// @file
/// Scaled dot-product attention: softmax(scale · Q Kᵀ) V.
///
/// Vaswani et al., "Attention Is All You Need" (2017), equation 1; computed block by block with an online
/// softmax as in Dao et al., "FlashAttention" (2022), so that memory does not grow with Lq · Lkv.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "simdattn/export.hpp"
#include "simdattn/implementation.hpp"
#include "simdattn/status.hpp"
#include "simdattn/tensor.hpp"

namespace simdattn {

/// Which keys a query may see by its position. With Lq = Lkv the two kinds are the same.
enum class Causal : std::uint8_t {
  none,         ///< all of them
  top_left,     ///< key j is visible to query i iff j ≤ i
  bottom_right, ///< key j is visible to query i iff j ≤ i + Lkv − Lq: the last query sees every key
};

/// The tensors of one call. Outputs overlap nothing.
struct AttentionTensors {
  TensorView query; ///< [B, Hq, Lq, D]
  TensorView key;   ///< [B, Hkv, Lkv, D]; Hq is a multiple of Hkv, query head h uses key head h / (Hq / Hkv)
  TensorView value; ///< [B, Hkv, Lkv, Dv]
  MutableTensorView output; ///< [B, Hq, Lq, Dv]; 0 in a row that sees no key
  /// Optional, [B, Hq, Lq, 1], f32: log Σ exp(score) over a row's visible keys, natural logarithm; −inf in a row
  /// that sees no key.
  MutableTensorView lse;
  /// Optional, [B, Hq, Lq, Lkv], f32: the softmax itself. Costs a second pass over the keys.
  MutableTensorView weights;
};

/// What belongs to the model, and so to every call.
struct AttentionOptions {
  std::optional<float> scale; ///< any finite number; 1/√D when absent
  Causal causal = Causal::none;
};

/// A caller's own thread pool. `run` calls `body(job, worker)` once for every worker in [0, workers), at once or
/// one after the other, in any order, and returns when all have returned. No two bodies that run at the same time
/// get the same worker.
struct ParallelFor {
  void (*run)(void* pool, int workers, void (*body)(void* job, int worker), void* job) = nullptr;
  void* pool = nullptr;
};

/// Where and with what one call runs.
struct Context {
  /// The most threads to use. 0: what OpenMP would use, or, with `parallel_for`, the number of processors.
  int threads = 0;
  const Implementation* implementation = nullptr; ///< nullptr: see implementation.hpp
  void* workspace = nullptr; ///< scratch of any alignment and content; nullptr: the call allocates its own
  std::size_t workspace_bytes = 0; ///< size of `workspace`; at least what workspace_size() says
  ParallelFor parallel_for; ///< runs the work instead of OpenMP; used when `run` is set
};

/// Computes softmax(scale · Q Kᵀ) V. Thread-safe. With a workspace it allocates nothing; on an error no output
/// is touched. The result does not depend on the number of threads, nor on the other entries of a batch.
///
/// Zero batch entries, heads or queries: nothing is written. Zero keys: the output is 0, LSE −inf.
/// A key that is not visible is absent: nothing it holds reaches the output, NaN and infinity included. A NaN in a
/// query or a visible key gives NaN in the rows that see it.
SIMDATTN_API Status scaled_dot_product_attention(const AttentionTensors& tensors, const AttentionOptions& options = {},
                                                 const Context& context = {}) noexcept;

/// Writes the size, in bytes, of the workspace that the same call needs. It never shrinks when a size grows.
SIMDATTN_API Status workspace_size(const AttentionTensors& tensors, const AttentionOptions& options,
                                   const Context& context, std::size_t* bytes) noexcept;

} // namespace simdattn
