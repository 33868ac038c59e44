#pragma once
// From product to score: softcap, slopes, the caller's modifier, mask and exclusion, in this order,
// on one panel and one run of keys at a time. Everything here is in natural units, but for the
// boolean mask and exclusion, which only ever write −inf.

#include "kernels/exp2.hpp"
#include "kernels/panel.hpp"
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
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  alignas(64) float slope[width], position[width];
  for (int key = 0, lane = 0; key < key_step; ++key) {
    for (int r = 0; r < width / key_step; ++r, ++lane) {
      const QueryRow& row = block.rows[panel.first_row + smaller(r, panel.row_count - 1)];
      slope[lane] = row.slope;
      position[lane] = static_cast<float>(row.position - keys.first - key);
    }
  }
  const int vectors = (keys.count + key_step - 1) / key_step;
  change_scores<Isa, Vectors>(
      block.scratch, vectors, [&](auto v, int j, auto score) __attribute__((always_inline)) {
        const auto distance = Isa::sub(Isa::broadcast(static_cast<float>(j * key_step)),
                                       Isa::load(position + v * lanes));
        return Isa::fma(Isa::load(slope + v * lanes), distance, score);
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

/// What a mask does to a panel and a run of keys, so that most of it can be left out.
enum class MaskEffect {
  nothing, ///< adds 0 everywhere
  adds,    ///< excludes no key: its squares are below FLT_MAX
  may_exclude,
  excludes_every, ///< from every row
};

/// What a mask's vectors have in common. By value through the loops, so that it stays in registers;
/// by two chains, since one would take longer than the rest of the loop.
template <class Isa>
struct MaskSurvey {
  using Vector = typename Isa::Vector;
  Vector largest[2] = {Isa::broadcast(-__builtin_inff()), Isa::broadcast(-__builtin_inff())};
  Vector squares[2] = {Isa::broadcast(0.0f), Isa::broadcast(0.0f)};

  template <int I>
  [[gnu::always_inline]] Vector operator()(Vector values, Index<I>) {
    largest[I % 2] = Isa::max(largest[I % 2], values);
    squares[I % 2] = Isa::fma(values, values, squares[I % 2]);
    return values;
  }

  MaskEffect effect() const {
    const Vector most = Isa::max(largest[0], largest[1]), sum = Isa::add(squares[0], squares[1]);
    // NaN is not less than anything, and so counts as "may exclude".
    if (!Isa::any(Isa::not_less(most, Isa::broadcast(-FLT_MAX))) && !Isa::any(Isa::is_nan(sum)))
      return MaskEffect::excludes_every;
    if (!Isa::any(Isa::not_less(sum, Isa::broadcast(FLT_MIN)))) return MaskEffect::nothing;
    return Isa::any(Isa::not_less(sum, Isa::broadcast(FLT_MAX))) ? MaskEffect::may_exclude
                                                                 : MaskEffect::adds;
  }
};

/// Writes the mask of a panel, of elements T, to scratch, rows innermost.
template <class Isa, int Vectors, class T>
MaskEffect transpose_mask(const AttentionBlock& block, const Panel<Isa>& panel,
                          const KeyBlock& keys) {
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  const QueryRow* rows = block.rows + panel.first_row;
  const std::int64_t stride = block.steps.mask_stride;
  float* mask = block.scratch.mask;
  MaskSurvey<Isa> survey;
  const auto row_at = [&](int r) {
    return static_cast<const T*>(rows[r].mask) + keys.first * stride;
  };
  int distinct_rows = 1;
  while (distinct_rows < panel.row_count && rows[distinct_rows].mask == rows[0].mask)
    ++distinct_rows;
  const int distinct_keys = stride == 0 ? 1 : keys.count;
  constexpr int ahead = 256 / sizeof(T); // too many rows for the hardware's prefetchers
  if (distinct_rows == panel.row_count) {
    for (int j = 0; j < distinct_keys; ++j) {
      const auto values =
          survey(Isa::broadcast(load_element<Isa>(row_at(0) + j * stride)), Index<0>{});
      for (int v = 0; v < width; v += lanes)
        Isa::store(mask + j * width + v, values);
    }
  } else {
    survey = load_transposed<Isa, Vectors, T, ahead>(row_at, panel.row_count, stride, distinct_keys,
                                                     survey, mask);
  }
  for (int i = distinct_keys * width; i < keys.count * width; i += lanes)
    Isa::store(mask + i, Isa::load(mask + i - width));
  return survey.effect();
}

/// Brings the mask of a panel into scratch as what it adds to each score, and says what it does.
template <class Isa, int Vectors>
MaskEffect load_mask(const AttentionBlock& block, const Panel<Isa>& panel, const KeyBlock& keys) {
  switch (block.steps.mask) {
  case DataType::boolean:
    return transpose_mask<Isa, Vectors, unsigned char>(block, panel, keys);
  case DataType::f32:
    return transpose_mask<Isa, Vectors, float>(block, panel, keys);
  case DataType::f16:
    return transpose_mask<Isa, Vectors, Float16>(block, panel, keys);
  case DataType::bf16:
    return transpose_mask<Isa, Vectors, BFloat16>(block, panel, keys);
  case DataType::none:
  case DataType::i64:
    break;
  }
  return MaskEffect::nothing;
}

/// Whether nothing comes between product and mask, so that the tiles of the product can add it.
[[gnu::always_inline]] inline bool mask_joins_product(const AttentionBlock& block) {
  const ScoreSteps& steps = block.steps;
  return !block.by_rows && steps.softcap == 0.0f && !steps.slopes &&
         steps.modifier.modify == nullptr;
}

/// The mask that load_mask() has brought into scratch.
inline MaskValues loaded_mask(const AttentionBlock& block, MaskEffect mask) {
  if (mask == MaskEffect::nothing) return {};
  return {block.scratch.mask, mask != MaskEffect::adds || !block.steps.adds_mask()};
}

/// score += mask.
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

  [[gnu::always_inline]] auto operator()(int v, int j) const {
    const auto by_limits = limits.hides(v, j);
    if (mask == nullptr) return by_limits;
    const auto added = Isa::load(mask + (j * Vectors + v) * Isa::lanes);
    return Isa::either(by_limits, Isa::less(added, Isa::broadcast(-FLT_MAX)));
  }
};

/// Everything between product and softmax for the scores of one panel and run of keys, up to
/// `stage`, but for a mask that joined the product; and tile_max, but of blocks by rows.
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
    hide_scores(limits, visible, scratch.scores, scratch.tile_max);
  }
  if (!know_max && !by_rows<Vectors>(block))
    find_max<Isa, Vectors>(scratch.scores, keys.count, scratch.tile_max);
}

} // namespace simdattn::kernels
