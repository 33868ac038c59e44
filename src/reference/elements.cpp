#include "elements.hpp"

#include <bit>
#include <cmath>
#include <cstddef>

namespace simdattn::reference {
namespace {

std::int64_t offset_of(const TensorView& tensor, std::int64_t batch, std::int64_t head,
                       std::int64_t i, std::int64_t d) noexcept {
  return batch * tensor.stride[0] + head * tensor.stride[1] + i * tensor.stride[2] +
         d * tensor.stride[3];
}

} // namespace

double number(Float16 x) noexcept {
  const int exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
  const double size = exponent == 31  ? (fraction == 0 ? HUGE_VAL : NAN)
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return x.bits >> 15 != 0 ? -size : size;
}

double number(BFloat16 x) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

double element(const TensorView& tensor, std::int64_t batch, std::int64_t head, std::int64_t i,
               std::int64_t d) noexcept {
  const std::int64_t offset = offset_of(tensor, batch, head, i, d);
  switch (tensor.type) {
  case DataType::boolean:
    return static_cast<const bool*>(tensor.data)[offset];
  case DataType::f16:
    return number(static_cast<const Float16*>(tensor.data)[offset]);
  case DataType::bf16:
    return number(static_cast<const BFloat16*>(tensor.data)[offset]);
  default:
    return static_cast<const float*>(tensor.data)[offset];
  }
}

double broadcast_element(const TensorView& tensor, std::int64_t batch, std::int64_t head,
                         std::int64_t i, std::int64_t d) noexcept {
  return element(tensor, tensor.size[0] == 1 ? 0 : batch, tensor.size[1] == 1 ? 0 : head,
                 tensor.size[2] == 1 ? 0 : i, tensor.size[3] == 1 ? 0 : d);
}

std::int64_t integer(const TensorView& list, std::int64_t index) noexcept {
  return static_cast<const std::int64_t*>(list.data)[index * list.stride[0]];
}

Matrix slice(const TensorView& tensor, std::int64_t batch, std::int64_t head, std::int64_t first,
             std::int64_t count) {
  Matrix matrix{count, tensor.size[3], {}};
  matrix.elements.reserve(static_cast<std::size_t>(matrix.rows * matrix.columns));
  for (std::int64_t i = first; i < first + count; ++i)
    for (std::int64_t d = 0; d < matrix.columns; ++d)
      matrix.elements.push_back(element(tensor, batch, head, i, d));
  return matrix;
}

Matrix slice(const TensorView& tensor, std::int64_t batch, std::int64_t head) {
  return slice(tensor, batch, head, 0, tensor.size[2]);
}

Matrix transposed(const Matrix& matrix) {
  Matrix result{matrix.columns, matrix.rows, {}};
  result.elements.resize(matrix.elements.size());
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    for (std::int64_t j = 0; j < matrix.columns; ++j)
      result.row(j)[i] = matrix.row(i)[j];
  return result;
}

void append(Matrix& matrix, const Matrix& rows) {
  matrix.rows += rows.rows;
  matrix.elements.insert(matrix.elements.end(), rows.elements.begin(), rows.elements.end());
}

} // namespace simdattn::reference
