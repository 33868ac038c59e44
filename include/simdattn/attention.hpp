#pragma once
/// @file
/// Scaled dot-product attention: softmax(scale · Q Kᵀ + bias) V.
///
/// Vaswani et al., "Attention Is All You Need" (2017), equation 1; computed block by block with an
/// online softmax as in Dao et al., "FlashAttention" (2022), so that memory does not grow with Lq ·
/// Lkv.

#include "simdattn/export.hpp"
#include "simdattn/implementation.hpp"
#include "simdattn/status.hpp"
#include "simdattn/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace simdattn {

/// Which keys a query may see by its position, and where position 0 is. A query's position is
/// counted in keys: that of query i of batch entry b is pᵢ = i + offset, with the offset that the
/// kind names.
enum class Causal : std::uint8_t {
  none,     ///< all of them; offset = query_offsets[b]
  top_left, ///< key j is visible iff j ≤ pᵢ; offset = query_offsets[b], so that by default j ≤ i
  bottom_right, ///< key j is visible iff j ≤ pᵢ; offset = key length − query length of b: the last
                ///< query sees every key
};

/// The tensors of one call. Outputs overlap nothing. What is absent (data == nullptr) changes
/// nothing.
///
/// Keys are numbered through past_key and key: Lkv = Lpast + Lnew.
struct AttentionTensors {
  TensorView query = {}; ///< [B, Hq, Lq, D]
  TensorView key = {}; ///< [B, Hkv, Lnew, D]; Hq is a multiple of Hkv, query head h uses key head h
                       ///< / (Hq / Hkv)
  TensorView value = {};         ///< [B, Hkv, Lnew, Dv]
  MutableTensorView output = {}; ///< [B, Hq, Lq, Dv]; 0 in a row that sees no key
  /// Optional, [B, Hq, Lq, 1], f32: log Σ exp(score) over a row's visible keys, natural logarithm;
  /// −inf in a row that sees no key.
  MutableTensorView lse = {};
  /// Optional, [B, Hq, Lq, Lkv], f32: the softmax itself. Costs a second pass over the keys.
  MutableTensorView weights = {};

  /// Optional, [B, Hq, Lq, Lkv], each axis of that size or 1: boolean (true: attend), or f32, f16
  /// or bf16, added to the scores. A key is excluded by false or by exactly −inf, not by any finite
  /// number.
  TensorView mask = {};
  /// Optional, [B, Hkv, Lpast, D] and [B, Hkv, Lpast, Dv], both or neither: keys and values that
  /// come before key and value, without copying them together.
  TensorView past_key = {};
  TensorView past_value = {}; ///< see past_key
  TensorView kv_lengths =
      {}; ///< optional, [B] i64: keys from this number on are excluded; in 0 … Lkv
  TensorView
      query_lengths; ///< optional, [B] i64: queries from this number on see no key; in 0 … Lq
  TensorView query_offsets =
      {}; ///< optional, [B] i64, not with bottom_right: see Causal; 0 when absent
  /// Optional, [B, Hq], either size may be 1: slopes of ALiBi (Press et al., "Train Short, Test
  /// Long", 2022), which adds slope · (j − pᵢ) to the scores.
  TensorView alibi_slopes = {};
  /// Optional, [B, Hq], either size may be 1: attention sinks, a score for each head that takes
  /// part in the softmax's sum and has no value. A row that sees no key has the sink as its LSE.
  TensorView sinks = {};

  /// Ragged batches, optional, both or neither: N + 1 cumulative sequence lengths, i64, from 0 to
  /// the number of tokens, never decreasing. The tensors then have B = 1 and N sequences one after
  /// the other along their seq axis; queries of sequence n see keys of sequence n alone, and every
  /// rule above holds for each sequence by itself, with N in the place of B, the sequence's own
  /// lengths in the place of Lq and Lkv, and key numbers that begin at 0 in each. weights and mask
  /// are [1, Hq, all queries, longest key sequence]. Not together with past_key.
  TensorView query_starts = {};
  TensorView kv_starts = {}; ///< see query_starts
};

/// A tile of scores that a ScoreModifier may change: score (r, k) is scores[r · row_stride + k ·
/// key_stride], of query first_row + r and key first_key + k.
struct ScoreTile {
  float* scores;           ///< score (0, 0)
  std::int64_t row_stride; ///< from one query to the next, in elements
  std::int64_t key_stride; ///< from one key to the next, in elements
  std::int64_t batch;      ///< batch entry, or sequence of a ragged batch
  std::int64_t head;       ///< query head
  std::int64_t first_row;  ///< number of the first query, in its batch entry or sequence
  std::int64_t first_key;  ///< number of the first key, likewise; past keys count
  std::int64_t row_count;  ///< queries in the tile
  std::int64_t key_count;  ///< keys in the tile
};

/// A caller's own change of the scores, in natural units, after the softcap and before masks.
/// Called on every tile that is not wholly excluded, from several threads at once, perhaps more
/// than once on the same scores; excluded keys may be among them.
struct ScoreModifier {
  void (*modify)(void* user,
                 const ScoreTile& tile) = nullptr; ///< the caller's function; nullptr: none
  void* user = nullptr;                            ///< passed to `modify`
};

/// What belongs to the model, and so to every call. The order in which a score s is made:
/// s = scale · q·k; softcap; ALiBi; modifier; mask; exclusion (mask, causal, window, lengths: all
/// must allow a key).
struct AttentionOptions {
  std::optional<float> scale = {}; ///< any finite number; 1/√D when absent
  Causal causal = Causal::none;    ///< whether later keys are hidden
  /// How many keys before and after a query's own position it sees, besides that one: key j is
  /// visible iff pᵢ − window_left ≤ j ≤ pᵢ + window_right. −1: no bound.
  std::int64_t window_left = -1;
  std::int64_t window_right = -1; ///< see window_left
  float softcap = 0.0f;           ///< c > 0: s becomes c · tanh(s / c); 0: off
  ScoreModifier modifier = {};    ///< used when `modify` is set
};

/// A caller's own thread pool. `run` calls `body(job, worker)` once for every worker in [0,
/// workers), at once or one after the other, in any order, and returns when all have returned. No
/// two bodies that run at the same time get the same worker.
struct ParallelFor {
  /// The caller's function; nullptr: OpenMP runs the work.
  void (*run)(void* pool, int workers, void (*body)(void* job, int worker), void* job) = nullptr;
  void* pool = nullptr; ///< passed to `run`
};

/// Where and with what one call runs.
struct Context {
  /// The most threads to use. 0: what OpenMP would use, or, with `parallel_for`, the number of
  /// processors.
  int threads = 0;
  const Implementation* implementation = nullptr; ///< nullptr: see implementation.hpp
  void* workspace =
      nullptr; ///< scratch of any alignment and content; nullptr: the call allocates its own
  std::size_t workspace_bytes = 0; ///< size of `workspace`; at least what workspace_size() says
  ParallelFor parallel_for = {};   ///< runs the work instead of OpenMP; used when `run` is set
};

/// Computes softmax(scale · Q Kᵀ + bias) V. Thread-safe. With a workspace it allocates nothing; on
/// an error no output is touched. The result does not depend on the number of threads, nor on the
/// other entries of a batch.
///
/// Zero batch entries, heads or queries: nothing is written. Zero keys: the output is 0, LSE −inf.
/// A key that is not visible is absent: nothing it holds reaches the output, NaN and infinity
/// included. A NaN in a query or a visible key gives NaN in the rows that see it.
SIMDATTN_API Status scaled_dot_product_attention(const AttentionTensors& tensors,
                                                 const AttentionOptions& options = {},
                                                 const Context& context = {}) noexcept;

/// Writes the size, in bytes, of the workspace that the same call needs. It never shrinks when a
/// size grows.
SIMDATTN_API Status workspace_size(const AttentionTensors& tensors, const AttentionOptions& options,
                                   const Context& context, std::size_t* bytes) noexcept;

} // namespace simdattn
