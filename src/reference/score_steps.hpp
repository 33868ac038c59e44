#pragma once
// The steps from a raw score to the one that the softmax takes. Each works on a score and on a
// bound of what an f32 implementation may be off by there, and says how the bound grows.

#include "simdattn/attention.hpp"

namespace simdattn::reference {

/// Half a unit in the last place of f32, relative.
inline constexpr double unit_roundoff = 0x1p-24;

struct Score {
  double value = 0;
  double error = 0; ///< |f32 score − value| is at most this
};

/// A score that f32 can't hold is infinite, since scores are f32 in the library.
double in_f32_range(double score) noexcept;

/// cap · tanh(score / cap).
Score softcapped(const Score& score, double cap) noexcept;

/// score + bias, where bias = slope · distance.
Score biased(const Score& score, double bias) noexcept;

/// score + mask, rounded to f32, and at least −FLT_MAX: no sum of finite numbers excludes a key.
/// Rounded, because a mask may be so large that the score is lost in it, and then must be.
Score masked(const Score& score, double mask) noexcept;

/// Calls a modifier on one row, keys 0 … tile.key_count − 1; `tile` says which row, its scores are
/// filled in here.
void modify(const ScoreModifier& modifier, ScoreTile tile, Score* scores);

} // namespace simdattn::reference
