#pragma once
// The contract between the framework (src/) and the kernels (src/kernels/, arch/<isa>/): plain data
// only, so that units compiled with different instruction sets share no function.
// docs/kernel-contract.md explains it; every precondition is stated here.

#include "cpu_features.hpp"
#include "simdattn/staged.hpp"
#include "simdattn/tensor.hpp"

#include <cstdint>

namespace simdattn {

/// One row of a block: one query of one head. Pointers are to the row's first element.
struct QueryRow {
  const void* query; ///< D elements; for the softmax entry: the row's scores
  void* output;      ///< Dv elements
  float* lse;        ///< one element, or nullptr
  float* weights;    ///< key_count elements, or nullptr (for every row of a block or for none)
  std::int64_t
      first_key; ///< the row sees keys in [first_key, end_key), by position in 0 … key_count;
  std::int64_t end_key;  ///< first_key <= end_key, and both are 0 in a row that sees none
  const void* mask;      ///< the row's mask, when ScoreSteps::mask says that there is one
  std::int64_t position; ///< where the query stands among the keys, for slopes
  float slope;           ///< of ALiBi
  float sink;
};

/// What happens to a score between the product and the softmax, in this order.
struct ScoreSteps {
  float softcap;            ///< 0: nothing
  bool slopes;              ///< add slope · (key − position)
  ScoreModifier modifier;   ///< called for each query head of a panel
  DataType mask;            ///< boolean, or added: f32, f16, bf16; none: there is no mask
  std::int64_t mask_stride; ///< from one key to the next in a row's mask, in elements
  bool sinks;               ///< rows have sinks; they join the sum after the last key
  std::int64_t batch;       ///< for the modifier: batch entry,
  std::int64_t first_head;  ///< query head of the group's first row,
  std::int64_t group;       ///< query heads packed side by side,
  std::int64_t first_row;   ///< and the packed number of the block's first row

  /// Whether scores stay in natural units until the softmax; otherwise they come multiplied by
  /// log2(e).
  [[gnu::always_inline]] bool natural() const {
    return softcap != 0.0f || slopes || modifier.modify != nullptr || adds_mask();
  }
  [[gnu::always_inline]] bool adds_mask() const {
    return mask != DataType::none && mask != DataType::boolean;
  }
};

/// A run of keys and values that lies regularly in memory. Keys are numbered through all segments.
struct KeySegment {
  const void* key;
  const void* value;
  std::int64_t key_count;
  std::int64_t key_row_stride;   ///< from one key to the next, in elements; any
  std::int64_t key_dim_stride;   ///< within a key; 1 unless gather_key
  std::int64_t value_row_stride; ///< likewise for values
  std::int64_t value_dim_stride;
  bool gather_key; ///< copy each key block to KernelScratch::key before use
  bool gather_value;
};

/// Memory of one block, 64-byte aligned, of any content; the plan lays it out. `padded_rows` is
/// row_count rounded up to whole vectors; a block's panels are at most TileSizes::panel_rows wide.
struct KernelScratch {
  float* query; ///< D (rounded up to whole vectors) × padded_rows: Qᵀ, panel after panel, scaled
  /// Dv × padded_rows: the accumulator Oᵀ, panel after panel. Of blocks by rows, 2 × few_rows × Dv
  /// (rounded up to whole vectors): the accumulator row by row, then the sums of one key block.
  float* output;
  float* scores;   ///< key_block × panel_rows: Sᵀ and Pᵀ of one panel
  float* row_max;  ///< padded_rows: the running maximum of each row, in the units of the scores
  float* row_sum;  ///< padded_rows: the running sum of each row
  float* tile_max; ///< 4 × panel_rows
  float* mask;     ///< key_block × panel_rows, when there is a mask
  void* key;       ///< key_block × D, when a segment gathers keys
  void* value;     ///< key_block × Dv, when a segment gathers values
};

/// Everything one call of a kernel needs: a block of query rows against one key/value head.
struct AttentionBlock {
  const QueryRow* rows;
  int row_count; ///< 1 … the row_block of the plan
  /// From a row's query to the one in its place in the block that is probably next, in elements, to
  /// ask for it; 0: not known.
  std::int64_t next_query;
  std::int64_t query_dim_stride; ///< within a row; likewise below
  std::int64_t output_dim_stride;
  std::int64_t weights_stride;
  const KeySegment* segments;
  int segment_count;
  std::int64_t key_count; ///< over all segments
  int dim;                ///< D, at least 1
  int value_dim;          ///< Dv, may be 0
  float scale;            ///< finite
  int key_block;          ///< keys in a block, at least 1
  bool by_rows;           ///< read keys row by row, once: for at most TileSizes::few_rows rows
  bool from_memory;       ///< keys and values are more than caches are likely to hold
  std::int64_t
      first_key; ///< the fused entry sees keys [first_key, end_key) alone: all, or a chunk of them
  std::int64_t end_key;
  /// Sums of chunks, (Dv + 2) × row_count floats each, one after the other. The fused entry writes
  /// its sums to the first place instead of finishing, unless this is nullptr; the merge entry
  /// joins partial_count of them.
  float* partials;
  int partial_count;
  ScoreSteps steps;
  ScoreStage stage; ///< of the scores entry
  KernelScratch scratch;
  /// For the fused entry: another head to be done along with this one, or nullptr. It differs in
  /// its tensors and in query, output, row_max and row_sum of its scratch alone, its mask and the
  /// rest of the scratch are the same, and no segment is gathered nor are there partials.
  const AttentionBlock* next_head;
};

/// What an implementation's register tiles and caches want; the plan starts from these.
struct TileSizes {
  int lanes;               ///< rows in one vector
  int panel_rows;          ///< rows in one panel: the widest register tile, a multiple of `lanes`
  int score_keys;          ///< keys in one register tile of Sᵀ = K Qᵀ, at full width
  int output_dims;         ///< dims in one register tile of Oᵀ += Vᵀ Pᵀ, at full width
  int row_block;           ///< rows in one block, a multiple of panel_rows
  int key_block;           ///< keys in one block
  int key_block_large_dim; ///< the same when D or Dv is above 64
  int key_block_one_panel; ///< the most when one panel has all rows
  int key_block_apart;     ///< the most when keys or values are far apart; 0: blocks of these are
                           ///< copied first
  int few_rows; ///< up to so many rows are faster with vectors along D than along the rows; at most
                ///< `lanes`
};

/// One implementation. Every entry is complete: no null pointers.
struct KernelTable {
  const char* name;
  CpuFeatures required; ///< the features that the entries use; none of them runs on a CPU without
  TileSizes tiles;
  /// The fused call on one block: the whole key loop, then output, lse and weights of every row.
  void (*fused)(const AttentionBlock&);
  /// Joins the chunks of one block in their order, then output, lse and weights of every row.
  void (*merge)(const AttentionBlock&);
  /// weights = scale · Q Kᵀ, as far as `stage` says. Uses no value and no output.
  void (*scores)(const AttentionBlock&);
  /// weights = softmax of `query` as a row of key_count scores with stride query_dim_stride. Uses
  /// no segment.
  void (*softmax)(const AttentionBlock&);
  /// output = `query` as a row of key_count weights with stride query_dim_stride, times V. Uses no
  /// key.
  void (*weighted_sum)(const AttentionBlock&);
  /// y[i] = 2^x[i] for x ≤ 0 or NaN, 0 from −63.5 down: the exponential of every entry above, for
  /// tests.
  void (*exp2)(const float* x, float* y, std::int64_t count);
};

} // namespace simdattn
