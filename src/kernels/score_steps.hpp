#pragma once
// From product to score: softcap, slopes, the caller's modifier, mask and exclusion, in this order,
// on one panel and one run of keys at a time. Everything here is in natural units, but for the
// boolean mask and exclusion, which only ever write −inf.

#include "kernels/exp2.hpp"
#include "kernels/masks.hpp"
#include "kernels/softmax.hpp"

#include <cfloat>
#include <cstdint>

namespace simdattn::kernels {

/// score = change(v, j, score) for every vector of a panel's scores, and tile_max their new maxima.
template <class Isa, int Vectors, class Change>
[[gnu::always_inline]] inline void change_scores(const KernelScratch& scratch, int keys,
                                                 Change&& change) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  Vector largest[Vectors];
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    largest[v] = Isa::broadcast(-__builtin_inff());
  });
  for (int j = 0; j < keys; ++j) {
    unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
      float* score = scratch.scores + j * width + v * lanes;
      const Vector changed = change(v, j, Isa::load(score));
      Isa::store(score, changed);
      largest[v] = Isa::max(largest[v], changed);
    });
  }
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    Isa::store(scratch.tile_max + v * lanes, largest[v]);
  });
}

/// score = softcap · tanh(score / softcap), with tanh x = −e / (e + 2) and e = exp(−2x) − 1 for x ≥
/// 0, which loses nothing near 0.
template <class Isa, int Vectors>
void cap_scores(const KernelScratch& scratch, int keys, float softcap) {
  const auto cap = Isa::broadcast(softcap), factor = Isa::broadcast(-2.0f * log2_e / softcap);
  const auto zero = Isa::broadcast(0.0f), two = Isa::broadcast(2.0f);
  change_scores<Isa, Vectors>(
      scratch, keys, [&](auto, int, auto score) __attribute__((always_inline)) {
        const auto size = Isa::max(Isa::sub(zero, score), score);
        const auto e = expm1_base2<Isa>(Isa::mul(size, factor));
        const auto capped = Isa::div(Isa::mul(cap, e), Isa::add(e, two)); // negative
        return Isa::select(Isa::less(score, zero), capped, Isa::sub(zero, capped));
      });
}

/// score += slope · (key − position), for scores of which key_step keys share a vector, as many
/// lanes apart. Distances are whole numbers, exact as floats below 2^24.
template <class Isa, int Vectors>
void add_slopes(const AttentionBlock& block, const Panel<Isa>& panel, const KeyBlock& keys,
                int key_step = 1) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  alignas(64) float slopes[width], positions[width];
  for_lanes<Isa, Vectors>(block.rows + panel.first_row, panel.row_count, key_step,
                          [&](int lane, const QueryRow& row, int key) {
                            slopes[lane] = row.slope;
                            positions[lane] = static_cast<float>(row.position - keys.first - key);
                          });
  Vector slope[Vectors], position[Vectors];
  unroll<Vectors>([&](auto v) __attribute__((always_inline)) {
    slope[v] = Isa::load(slopes + v * lanes);
    position[v] = Isa::load(positions + v * lanes);
  });
  // Counted in a vector: a conversion and a broadcast for each key would take longer than the rest.
  const Vector step = Isa::broadcast(static_cast<float>(key_step));
  Vector key = Isa::broadcast(0.0f);
  const int vectors = (keys.count + key_step - 1) / key_step;
  change_scores<Isa, Vectors>(
      block.scratch, vectors, [&](auto v, int, auto score) __attribute__((always_inline)) {
        const Vector changed = Isa::fma(slope[v], Isa::sub(key, position[v]), score);
        if constexpr (v == Vectors - 1) key = Isa::add(key, step);
        return changed;
      });
}

/// Calls the modifier for each query head of a panel: its rows are every group-th lane.
template <class Isa, int Vectors>
void modify_scores(const ScoreSteps& steps, const Panel<Isa>& panel, const KeyBlock& keys,
                   float* scores) {
  const std::int64_t first_row = steps.first_row + panel.first_row;
  for (std::int64_t lane = 0; lane < smaller<std::int64_t>(steps.group, panel.row_count); ++lane) {
    ScoreTile tile;
    tile.scores = scores + lane;
    tile.row_stride = steps.group;
    tile.key_stride = Vectors * Isa::lanes;
    tile.batch = steps.batch;
    tile.head = steps.first_head + (first_row + lane) % steps.group;
    tile.first_row = (first_row + lane) / steps.group;
    tile.first_key = keys.first;
    tile.row_count = (panel.row_count - lane + steps.group - 1) / steps.group;
    tile.key_count = keys.count;
    steps.modifier.modify(steps.modifier.user, tile);
  }
}

/// Whether nothing comes between product and mask, so that the tiles of the product can add it.
[[gnu::always_inline]] inline bool mask_joins_product(const AttentionBlock& block) {
  const ScoreSteps& steps = block.steps;
  return steps.softcap == 0.0f && !steps.slopes && steps.modifier.modify == nullptr;
}

/// The mask that load_mask() has brought into scratch.
inline MaskValues loaded_mask(const AttentionBlock& block, MaskEffect mask) {
  if (mask == MaskEffect::nothing) return {};
  return {block.scratch.mask, mask != MaskEffect::adds || !block.steps.adds_mask()};
}

/// score += mask, of a mask in the order of the scores.
template <class Isa, int Vectors>
void add_mask(const KernelScratch& scratch, int keys, MaskValues mask) {
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  with_flags(
      mask.excludes, [&](auto excludes) __attribute__((always_inline)) {
        change_scores<Isa, Vectors>(
            scratch, keys, [&](auto v, int j, auto score) __attribute__((always_inline)) {
              const auto added = Isa::load(mask.values + j * width + v * lanes);
              return masked_score<Isa, excludes>(score, added);
            });
      });
}

/// Which lanes of a panel don't see a key: by interval, or by the mask in scratch.
template <class Isa, int Vectors>
struct Exclusion {
  LaneLimits<Isa, Vectors> limits;
  const float* mask; ///< nullptr: none
  int mask_step;     ///< elements from one key's mask to the next one's

  [[gnu::always_inline]] auto operator()(int v, int j) const {
    const auto by_limits = limits.hides(v, j);
    if (mask == nullptr) return by_limits;
    const auto added = Isa::load(mask + j * mask_step + v * Isa::lanes);
    return Isa::either(by_limits, Isa::less(added, Isa::broadcast(-FLT_MAX)));
  }
};

/// Everything between product and softmax for the scores of one panel and run of keys, up to
/// `stage`, but for a mask that joined the product; and tile_max.
template <class Isa, int Vectors>
void finish_scores(const AttentionBlock& block, const Panel<Isa>& panel, const KeyBlock& keys,
                   const VisibleKeys<Isa, Vectors>& visible, MaskEffect mask, ScoreStage stage) {
  const ScoreSteps& steps = block.steps;
  const QueryRow* rows = block.rows + panel.first_row;
  const KernelScratch& scratch = block.scratch;
  if (stage == ScoreStage::raw) return;
  if (steps.softcap != 0.0f) cap_scores<Isa, Vectors>(scratch, keys.count, steps.softcap);
  if (stage == ScoreStage::capped) return;
  if (steps.slopes) add_slopes<Isa, Vectors>(block, panel, keys);
  // The maxima of a product that nothing changed leave out what some row does not see.
  bool know_max = !visible.in_part() || mask_joins_product(block);
  if (steps.modifier.modify != nullptr) {
    modify_scores<Isa, Vectors>(steps, panel, keys, scratch.scores);
    know_max = false;
  }
  const MaskValues values = loaded_mask(block, mask);
  if (values.values != nullptr && !mask_joins_product(block)) {
    add_mask<Isa, Vectors>(scratch, keys.count, values);
    know_max = !visible.in_part();
  }
  if (visible.in_part()) {
    const LaneLimits<Isa, Vectors> limits(rows, panel.row_count, keys.first, keys.count);
    hide_scores(limits, visible.all_first, visible.all_end, keys.count, scratch.scores,
                scratch.tile_max);
  }
  if (!know_max) find_max<Isa, Vectors>(scratch.scores, keys.count, scratch.tile_max);
}

} // namespace simdattn::kernels
