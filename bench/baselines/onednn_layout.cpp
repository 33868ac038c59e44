#include "onednn_layout.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace simdattn::baseline {
namespace {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
constexpr auto f32 = dnnl::memory::data_type::f32;

template <class View>
bool evenly_spaced(const View& view, const Sizes& sizes) {
  return sizes.group == 1 || view.stride[1] == view.size[2] * view.stride[2];
}

Desc dense(const Dims& dims) {
  Dims strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t axis = dims.size(); axis-- > 0; stride *= dims[axis])
    strides[axis] = stride;
  return {dims, f32, strides};
}

/// The sizes of query, output and scores, whose last axis has `columns` elements.
Dims row_dims(const Sizes& sizes, bool group_axis, std::int64_t columns) {
  if (group_axis) return {sizes.batch, sizes.kv_heads, sizes.group, sizes.query_count, columns};
  return {sizes.batch, sizes.kv_heads, sizes.group * sizes.query_count, columns};
}

template <class View>
Desc describe_rows(const View& view, const Sizes& sizes, bool group_axis) {
  Dims strides{view.stride[0], sizes.group * view.stride[1], view.stride[2], view.stride[3]};
  if (group_axis) strides.insert(strides.begin() + 2, view.stride[1]);
  return {row_dims(sizes, group_axis, view.size[3]), f32, strides};
}

Desc describe_keys(const TensorView& view, bool group_axis, bool transposed) {
  Dims dims(view.size, view.size + 4), strides(view.stride, view.stride + 4);
  if (transposed) {
    std::swap(dims[2], dims[3]);
    std::swap(strides[2], strides[3]);
  }
  if (group_axis) {
    dims.insert(dims.begin() + 2, 1);
    strides.insert(strides.begin() + 2, strides[1]);
  }
  return {dims, f32, strides};
}

} // namespace

Sizes::Sizes(const AttentionTensors& tensors)
    : batch(tensors.query.size[0]), kv_heads(tensors.key.size[1]),
      group(tensors.query.size[1] / kv_heads), query_count(tensors.query.size[2]),
      key_count(tensors.key.size[2]) {}

Layout::Layout(const AttentionTensors& tensors, const Sizes& sizes)
    : group_axis(!evenly_spaced(tensors.query, sizes) || !evenly_spaced(tensors.output, sizes)),
      query(describe_rows(tensors.query, sizes, group_axis)),
      key(describe_keys(tensors.key, group_axis, true)),
      value(describe_keys(tensors.value, group_axis, false)),
      output(describe_rows(tensors.output, sizes, group_axis)),
      scores(dense(row_dims(sizes, group_axis, sizes.key_count))) {
  // A mask that is broadcast over the batch, or over any of five axes, is left to "ref".
  Dims mask_dims = row_dims(sizes, group_axis, sizes.key_count);
  if (!group_axis) mask_dims[1] = 1;
  mask = dense(mask_dims);
}

dnnl::memory causal_mask(const dnnl::engine& engine, const Layout& layout, const Sizes& sizes,
                         Causal causal) {
  dnnl::memory mask(layout.mask, engine);
  auto* row = static_cast<float*>(mask.get_data_handle());
  const float* end = row + layout.mask.get_size() / sizeof(float);
  const std::int64_t first_row_keys =
      causal == Causal::bottom_right ? sizes.key_count - sizes.query_count + 1 : 1;
  for (std::int64_t r = 0; row != end; ++r, row += sizes.key_count) {
    const std::int64_t visible =
        std::clamp<std::int64_t>(first_row_keys + r % sizes.query_count, 0, sizes.key_count);
    std::fill(row, row + visible, 0.0f);
    std::fill(row + visible, row + sizes.key_count, -std::numeric_limits<float>::infinity());
  }
  return mask;
}

} // namespace simdattn::baseline
