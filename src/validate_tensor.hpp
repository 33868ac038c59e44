#pragma once
// What every tensor must be, whatever its part in the call.

#include "simdattn/status.hpp"
#include "simdattn/tensor.hpp"

#include <cstdint>

#define SIMDATTN_RETURN_IF_ERROR(expression)                                                       \
  if (Status status_of_expression = (expression); !status_of_expression.ok())                      \
  return status_of_expression

namespace simdattn {

/// A tensor and the name that messages give it; inputs and outputs alike.
struct NamedTensor {
  const char* name;
  const void* data;
  DataType type;
  const std::int64_t* size;
  const std::int64_t* stride;
  bool is_output;

  NamedTensor(const char* tensor_name, const TensorView& view) noexcept
      : name(tensor_name), data(view.data), type(view.type), size(view.size), stride(view.stride),
        is_output(false) {}
  NamedTensor(const char* tensor_name, const MutableTensorView& view) noexcept
      : name(tensor_name), data(view.data), type(view.type), size(view.size), stride(view.stride),
        is_output(true) {}
};

/// "f32" and so on.
const char* type_name(DataType type) noexcept;

/// Checks presence, type, sizes, strides, alignment, and that every offset fits in 64 bits.
Status check_tensor(const NamedTensor& tensor, DataType type = DataType::f32) noexcept;

/// Checks one size; `must_be` says where the wanted size comes from, as in "as in query".
Status check_size(const NamedTensor& tensor, int axis, std::int64_t wanted,
                  const char* must_be) noexcept;

/// Checks that each size is 1 or the wanted one, and sets the strides of `view` to 0 along axes of
/// size 1.
Status check_broadcast(const NamedTensor& tensor, const std::int64_t (&wanted)[4],
                       TensorView* view) noexcept;

/// Checks that an output starts where no other tensor starts.
Status check_apart(const NamedTensor& output, const NamedTensor& other) noexcept;

} // namespace simdattn
