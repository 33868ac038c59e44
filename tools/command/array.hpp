#pragma once
// A dense array with the shape that its file or a formula gives it, of rank 1 to 4.

#include "simdattn/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simdattn::command {

using Shape = std::vector<std::int64_t>;

struct Array {
  DataType type = DataType::none;
  Shape shape;
  Shape stride; ///< in elements: in Fortran order the first axis has 1, in C order the last
  std::vector<std::byte>
      data; ///< one byte at least in an array that is there: a view without data is absent
};

/// How many bytes an array takes; nothing when they, or its strides, overflow.
std::optional<std::size_t> array_bytes(DataType type, const Shape& shape);

/// An array of zeros. Throws InputError when its size overflows.
Array zeros(DataType type, const Shape& shape, bool fortran_order = false);

/// The elements of a float32 array.
float* values(Array& array);
const float* values(const Array& array);

/// The array as [batch, heads, seq, dim]: rank 4 as it is, [batch, seq, dim] and [seq, dim] with
/// one head.
TensorView tensor_view(const Array& array);
MutableTensorView mutable_view(Array& array);

/// As NumPy writes it: "(4, 10, 64)".
std::string shape_text(const Shape& shape);

} // namespace simdattn::command
