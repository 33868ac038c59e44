#pragma once
// One random call: everything about it but the numbers in its tensors.

#include "differential/random.hpp"
#include "differential/strided_memory.hpp"
#include "simdattn/staged.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simdattn::differential {

/// A tensor of the call; absent unless it has strides.
struct TensorPlan {
  Sizes size{};
  std::optional<Strides> strides;
};
/// A list of integers, one for each batch entry; absent when it has no value.
using ListPlan = std::optional<std::vector<std::int64_t>>;

/// Which NaN and infinities are put into the tensors.
enum class Poison {
  none,
  unseen,   ///< in keys and values that no query sees
  anywhere, ///< in a few elements of query, key and value
};

struct Case {
  std::int64_t batch = 1; ///< entries, or sequences of a ragged batch
  std::int64_t kv_heads = 1, group = 1;
  std::int64_t queries = 1, keys = 1, past = 0; ///< tokens of all sequences in a ragged batch
  std::int64_t dim = 1, value_dim = 1;
  ListPlan query_starts, kv_starts, query_lengths, kv_lengths, query_offsets;

  TensorPlan query, key, value, past_key, past_value, mask, slopes, sinks;
  TensorPlan output, lse, weights;

  AttentionOptions options; ///< but for the modifier
  bool modified = false;
  DataType mask_type = DataType::none; ///< boolean, or added: f32, f16, bf16
  int mask_percent = 0;                ///< of keys that the mask excludes
  bool mask_in_runs = false; ///< it excludes runs of keys, and whole rows, rather than single keys
  float mask_size = 1;       ///< of the finite numbers of an additive mask
  float query_size = 1, sink_size = 1, slope_size = 1;
  Poison poison = Poison::none;

  std::optional<ScoreStage> stage; ///< scores at this stage, instead of the whole call
  int threads = 1;
  bool own_pool = false;                             ///< run by a ParallelFor of the caller's
  std::optional<std::size_t> workspace_misalignment; ///< no workspace when it has no value

  std::int64_t heads() const noexcept { return kv_heads * group; }
  bool adds_mask() const noexcept {
    return mask_type != DataType::none && mask_type != DataType::boolean;
  }
  bool ragged() const noexcept { return query_starts.has_value(); }
  /// The batch axis of the tensors.
  std::int64_t batch_axis() const noexcept { return ragged() ? 1 : batch; }
  std::int64_t query_count(std::int64_t entry) const; ///< of one entry or sequence
  std::int64_t key_count(std::int64_t entry) const;   ///< likewise, past keys included
  std::int64_t columns() const;                       ///< of the weights
};

/// Takes from `random` what decides a case; what is left of it fills the tensors.
Case draw_case(Random& random);
/// All of it, for a reader.
std::string text_of(const Case& c);

} // namespace simdattn::differential
