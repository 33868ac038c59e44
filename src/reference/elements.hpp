#pragma once
// Elements of tensors as numbers.

#include "simdattn/tensor.hpp"

#include <cstdint>
#include <vector>

namespace simdattn::reference {

/// A dense row-major matrix.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> elements;

  double* row(std::int64_t index) noexcept { return elements.data() + index * columns; }
  const double* row(std::int64_t index) const noexcept { return elements.data() + index * columns; }
};

double number(Float16 x) noexcept;
double number(BFloat16 x) noexcept;
/// One element of a tensor of numbers or booleans; false is 0, true is 1.
double element(const TensorView& tensor, std::int64_t batch, std::int64_t head, std::int64_t i,
               std::int64_t d) noexcept;
/// The same, where an axis of size 1 has that element for every index.
double broadcast_element(const TensorView& tensor, std::int64_t batch, std::int64_t head,
                         std::int64_t i = 0, std::int64_t d = 0) noexcept;
/// Number `index` of a list of i64.
std::int64_t integer(const TensorView& list, std::int64_t index) noexcept;

/// Rows [first, first + count) of one [seq, dim] slice of a tensor.
Matrix slice(const TensorView& tensor, std::int64_t batch, std::int64_t head, std::int64_t first,
             std::int64_t count);
/// All rows of it.
Matrix slice(const TensorView& tensor, std::int64_t batch, std::int64_t head);
Matrix transposed(const Matrix& matrix);
/// Adds the rows of a matrix of as many columns.
void append(Matrix& matrix, const Matrix& rows);

} // namespace simdattn::reference
