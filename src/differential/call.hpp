#pragma once
// A case with the tensors and the numbers in them: what the library and the oracle are given.

#include "differential/case.hpp"

#include <atomic>

namespace simdattn::differential {

class Call {
public:
  /// Fills the tensors from `random`, in an order that the case decides.
  Call(const Case& description, Random& random);
  Call(const Call&) = delete;

  const Case& description() const noexcept { return case_; }
  AttentionTensors tensors() noexcept;
  AttentionOptions options() noexcept;
  /// Whether the modifier was called on a tile that is no part of the scores.
  bool modifier_misplaced() const noexcept { return misplaced_; }

  StridedMemory<float> output, lse, weights;

private:
  void fill(Random& random);
  void fill_mask(Random& random);
  void poison_unseen(Random& random);
  void poison_anywhere(Random& random);
  TensorView mask() const noexcept;
  static void modify(void* call, const ScoreTile& tile);

  Case case_;
  StridedMemory<float> query_, key_, value_, past_key_, past_value_, additive_mask_, slopes_,
      sinks_;
  StridedMemory<bool> boolean_mask_;
  StridedMemory<Float16> f16_mask_; ///< of additive_mask_, where the mask is of 16 bits; likewise:
  StridedMemory<BFloat16> bf16_mask_;
  std::atomic<bool> misplaced_ = false;
};

} // namespace simdattn::differential
