#pragma once
/// @file
/// Non-owning views of tensors of rank 4, [batch, heads, seq, dim], with strides counted in
/// elements.
///
/// A view of lower rank has size 1 on the axes it lacks. A KV cache is a view too: its size is what
/// is used, its strides say how much there is. A stride of 0 repeats one slice along an axis.

#include <cstdint>

namespace simdattn {

/// What one element is.
enum class DataType : std::uint8_t {
  none,    ///< nothing: of an absent tensor
  f32,     ///< float
  f16,     ///< Float16; of masks alone so far
  bf16,    ///< BFloat16; of masks alone so far
  boolean, ///< bool, one byte
  i64,     ///< std::int64_t
};

/// An IEEE 754 binary16, as its bits.
struct Float16 {
  std::uint16_t bits; ///< sign, 5 of exponent, 10 of fraction
};

/// The upper half of a float, as its bits.
struct BFloat16 {
  std::uint16_t bits; ///< sign, 8 of exponent, 7 of fraction
};

/// An input. `data == nullptr` means absent.
struct TensorView {
  const void* data = nullptr;          ///< the first element
  DataType type = DataType::none;      ///< of all elements
  std::int64_t size[4] = {0, 0, 0, 0}; ///< batch, heads, seq, dim; each 0 or more
  std::int64_t stride[4] = {
      0, 0, 0, 0}; ///< from one index to the next along each axis, in elements; each 0 or more
};

/// An output. `data == nullptr` means not wanted.
struct MutableTensorView {
  void* data = nullptr;                  ///< the first element
  DataType type = DataType::none;        ///< of all elements
  std::int64_t size[4] = {0, 0, 0, 0};   ///< batch, heads, seq, dim; each 0 or more
  std::int64_t stride[4] = {0, 0, 0, 0}; ///< as in TensorView; above 0 along an axis longer than 1
};

namespace detail {
template <class T>
struct ViewOf;
template <>
struct ViewOf<const float> {
  using View = TensorView;
  static constexpr DataType type = DataType::f32;
};
template <>
struct ViewOf<float> {
  using View = MutableTensorView;
  static constexpr DataType type = DataType::f32;
};
template <>
struct ViewOf<const Float16> {
  using View = TensorView;
  static constexpr DataType type = DataType::f16;
};
template <>
struct ViewOf<const BFloat16> {
  using View = TensorView;
  static constexpr DataType type = DataType::bf16;
};
template <>
struct ViewOf<const bool> {
  using View = TensorView;
  static constexpr DataType type = DataType::boolean;
};
template <>
struct ViewOf<const std::int64_t> {
  using View = TensorView;
  static constexpr DataType type = DataType::i64;
};
} // namespace detail

/// Any strides, in elements. The element type and whether the view can be written come from the
/// pointer: `const float*`, `const bool*` and the like give a TensorView, `float*` a
/// MutableTensorView.
template <class T>
typename detail::ViewOf<T>::View
strided(T* data, std::int64_t batch, std::int64_t heads, std::int64_t seq, std::int64_t dim,
        std::int64_t batch_stride, std::int64_t head_stride, std::int64_t seq_stride,
        std::int64_t dim_stride = 1) noexcept {
  typename detail::ViewOf<T>::View view;
  view.data = data;
  view.type = detail::ViewOf<T>::type;
  view.size[0] = batch, view.size[1] = heads, view.size[2] = seq, view.size[3] = dim;
  view.stride[0] = batch_stride, view.stride[1] = head_stride, view.stride[2] = seq_stride;
  view.stride[3] = dim_stride;
  return view;
}

/// A dense [batch, heads, seq, dim] tensor.
template <class T>
typename detail::ViewOf<T>::View bhsd(T* data, std::int64_t batch, std::int64_t heads,
                                      std::int64_t seq, std::int64_t dim) noexcept {
  return strided(data, batch, heads, seq, dim, heads * seq * dim, seq * dim, dim);
}

/// A dense [batch, seq, heads, dim] tensor, seen as [batch, heads, seq, dim].
template <class T>
typename detail::ViewOf<T>::View bshd(T* data, std::int64_t batch, std::int64_t seq,
                                      std::int64_t heads, std::int64_t dim) noexcept {
  return strided(data, batch, heads, seq, dim, seq * heads * dim, dim, heads * dim);
}

/// A dense [batch, seq, dim] tensor: one head.
template <class T>
typename detail::ViewOf<T>::View bsd(T* data, std::int64_t batch, std::int64_t seq,
                                     std::int64_t dim) noexcept {
  return bhsd(data, batch, 1, seq, dim);
}

/// A dense [seq, dim] tensor: one head of one batch entry.
template <class T>
typename detail::ViewOf<T>::View sd(T* data, std::int64_t seq, std::int64_t dim) noexcept {
  return bhsd(data, 1, 1, seq, dim);
}

/// One number for each batch entry, side by side: lengths, offsets, starts.
template <class T>
typename detail::ViewOf<T>::View per_batch(T* data, std::int64_t count) noexcept {
  return bhsd(data, count, 1, 1, 1);
}

/// One number for each head of each batch entry, dense: slopes, sinks. `batch` is 1 where all
/// entries share them.
template <class T>
typename detail::ViewOf<T>::View per_head(T* data, std::int64_t batch,
                                          std::int64_t heads) noexcept {
  return bhsd(data, batch, heads, 1, 1);
}

} // namespace simdattn
