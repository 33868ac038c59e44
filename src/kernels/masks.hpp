#pragma once
// Masks in the order of the scores that they are added to, and what they do to these.

#include "kernels/row_products.hpp"

#include <cfloat>
#include <cstdint>

namespace simdattn::kernels {

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

/// Where a row's mask begins for a run of keys.
template <class T>
[[gnu::always_inline]] inline const T* mask_of(const AttentionBlock& block, const QueryRow& row,
                                               const KeyBlock& keys) {
  return static_cast<const T*>(row.mask) + keys.first * block.steps.mask_stride;
}

/// v[0 … Rows − 1] = their first elements, one of each, then their second ones, and so on.
template <class Isa, int Rows, int Step = 1>
[[gnu::always_inline]] inline void interleave(typename Isa::Vector (&v)[Rows]) {
  if constexpr (Step < Rows) {
    typename Isa::Vector zipped[Rows];
    unroll<Rows / 2>([&](auto i) __attribute__((always_inline)) {
      Isa::zip(v[i], v[i + Rows / 2], zipped[2 * i], zipped[2 * i + 1]);
    });
    interleave<Isa, Rows, 2 * Step>(zipped);
    unroll<Rows>([&](auto i) __attribute__((always_inline)) { v[i] = zipped[i]; });
  }
}

/// Packs the masks of so many rows, whose elements are neighbours, for all keys that make up whole
/// vectors, and returns how many those are: 0 where vectors can't be zipped.
template <class Isa, class T, int Rows = 1>
int pack_vectors(const T* const* row, int rows, int count, MaskSurvey<Isa>* survey, float* mask) {
  using Vector = typename Isa::Vector;
  constexpr int lanes = Isa::lanes;
  if constexpr (requires(Vector v) { Isa::zip(v, v, v, v); }) {
    if constexpr (2 * Rows <= lanes) {
      if (rows > Rows) return pack_vectors<Isa, T, 2 * Rows>(row, rows, count, survey, mask);
    }
    MaskSurvey<Isa> seen = *survey;
    int j = 0;
    for (; j + lanes <= count; j += lanes, mask += Rows * lanes) {
      Vector values[Rows];
      unroll<Rows>([&](auto r) __attribute__((always_inline)) {
        values[r] = seen(load_elements<Isa>(row[r] + j), r);
      });
      interleave<Isa>(values);
      unroll<Rows>([&](auto r)
                       __attribute__((always_inline)) { Isa::store(mask + r * lanes, values[r]); });
    }
    *survey = seen;
    return j;
  }
  return 0;
}

/// Writes the mask of a block by rows, of elements T, to scratch, packed as its scores are.
template <class Isa, class T>
MaskEffect pack_mask(const AttentionBlock& block, const KeyBlock& keys) {
  const int rows = packed_rows<Isa>(block.row_count);
  const std::int64_t stride = block.steps.mask_stride;
  float* mask = block.scratch.mask;
  const T* row[Isa::lanes];
  for (int r = 0; r < rows; ++r)
    row[r] = mask_of<T>(block, block.rows[smaller(r, block.row_count - 1)], keys);
  MaskSurvey<Isa> survey;
  const int distinct_keys = stride == 0 ? 1 : keys.count;
  int j = 0;
  if (stride == 1) j = pack_vectors<Isa, T>(row, rows, keys.count, &survey, mask);
  for (; j < distinct_keys; ++j) {
    for (int r = 0; r < rows; ++r) {
      const float element = load_element<Isa>(row[r] + j * stride);
      survey(Isa::broadcast(element), Index<0>{});
      mask[j * rows + r] = element;
    }
  }
  for (int i = distinct_keys * rows; i < keys.count * rows; ++i)
    mask[i] = mask[i - rows];
  return survey.effect();
}

/// Writes the mask of a panel, of elements T, to scratch, rows innermost.
template <class Isa, int Vectors, class T>
MaskEffect transpose_mask(const AttentionBlock& block, const Panel<Isa>& panel,
                          const KeyBlock& keys) {
  if (by_rows<Vectors>(block)) return pack_mask<Isa, T>(block, keys);
  constexpr int lanes = Isa::lanes, width = Vectors * lanes;
  const QueryRow* rows = block.rows + panel.first_row;
  const std::int64_t stride = block.steps.mask_stride;
  float* mask = block.scratch.mask;
  MaskSurvey<Isa> survey;
  const auto row_at = [&](int r) { return mask_of<T>(block, rows[r], keys); };
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

} // namespace simdattn::kernels
