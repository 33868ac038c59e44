#pragma once
// The two numbers of a whole call that its tolerance is made from.

#include "simdattn/attention.hpp"

namespace simdattn::reference {

/// Which keys count.
enum class Keys { visible, all };

/// NaN and infinities don't count.
struct Extremes {
  double magnitude = 0; ///< σ: the largest |scale| · Σ_d |q_d · k_d|
  double value = 0;     ///< the largest |V|

  /// What an f32 raw score may be off by: u · (4 + D/4) · σ.
  double raw_score_error(const AttentionTensors& tensors) const noexcept;
};

Extremes extremes_of(const AttentionTensors& tensors, const AttentionOptions& options,
                     Keys keys = Keys::visible);

} // namespace simdattn::reference
