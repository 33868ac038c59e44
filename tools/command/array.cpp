#include "array.hpp"

#include "error.hpp"

#include <algorithm>

namespace simdattn::command {
namespace {

std::size_t element_size(DataType type) {
  switch (type) {
  case DataType::f32:
    return 4;
  case DataType::f16:
  case DataType::bf16:
    return 2;
  case DataType::i64:
    return 8;
  case DataType::boolean:
  case DataType::none:
    return 1;
  }
  return 1;
}

Shape dense_strides(const Shape& shape, bool fortran_order) {
  Shape stride(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = fortran_order ? i : shape.size() - 1 - i;
    stride[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return stride;
}

// Both kinds of view, but for their data.
template <class View>
View view_of(const Array& array) {
  static constexpr int axes[3][4] = {{2, 3}, {0, 2, 3}, {0, 1, 2, 3}};
  View view;
  view.type = array.type;
  std::fill_n(view.size, 4, 1);
  const std::size_t rank = array.shape.size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    view.size[axes[rank - 2][axis]] = array.shape[axis];
    view.stride[axes[rank - 2][axis]] = array.stride[axis];
  }
  return view;
}

} // namespace

std::optional<std::size_t> array_bytes(DataType type, const Shape& shape) {
  std::ptrdiff_t bytes = static_cast<std::ptrdiff_t>(element_size(type));
  bool empty = false;
  for (const std::int64_t size : shape) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) return std::nullopt;
  }
  return empty ? 0 : static_cast<std::size_t>(bytes);
}

Array zeros(DataType type, const Shape& shape, bool fortran_order) {
  const std::optional<std::size_t> bytes = array_bytes(type, shape);
  if (!bytes) throw InputError("an array of shape " + shape_text(shape) + " is too large");
  return {type, shape, dense_strides(shape, fortran_order),
          std::vector<std::byte>(std::max<std::size_t>(*bytes, 1))};
}

float* values(Array& array) { return reinterpret_cast<float*>(array.data.data()); }
const float* values(const Array& array) {
  return reinterpret_cast<const float*>(array.data.data());
}

TensorView tensor_view(const Array& array) {
  auto view = view_of<TensorView>(array);
  view.data = array.data.data();
  return view;
}

MutableTensorView mutable_view(Array& array) {
  auto view = view_of<MutableTensorView>(array);
  view.data = array.data.data();
  return view;
}

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace simdattn::command
