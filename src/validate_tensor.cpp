#include "validate_tensor.hpp"

#include <cinttypes>

namespace simdattn {
namespace {

constexpr const char* axis_names[4] = {"batch", "heads", "seq", "dim"};

std::size_t alignment_of(DataType type) noexcept {
  switch (type) {
  case DataType::f32:
    return alignof(float);
  case DataType::i64:
    return alignof(std::int64_t);
  case DataType::f16:
  case DataType::bf16:
    return alignof(std::uint16_t);
  case DataType::none:
  case DataType::boolean:
    break;
  }
  return 1;
}

Status invalid_axis(const NamedTensor& tensor, const char* what, int axis, std::int64_t value,
                    const char* must_be) noexcept {
  return Status::error(StatusCode::invalid_argument,
                       "%s: %s[%d] (%s) is %" PRId64 "; it must be %s", tensor.name, what, axis,
                       axis_names[axis], value, must_be);
}

/// Whether the offset of the last byte, and the number of elements, fit in 64 bits.
bool offsets_fit(const NamedTensor& tensor) noexcept {
  std::int64_t last = 0, count = 1;
  for (int axis = 0; axis < 4; ++axis) {
    std::int64_t span = 0;
    if (__builtin_mul_overflow(count, tensor.size[axis], &count) ||
        __builtin_mul_overflow(tensor.size[axis] - 1, tensor.stride[axis], &span) ||
        __builtin_add_overflow(last, span, &last)) {
      return false;
    }
  }
  std::int64_t bytes = 0;
  return !__builtin_mul_overflow(last, std::int64_t{8}, &bytes) &&
         !__builtin_mul_overflow(count, std::int64_t{8}, &bytes);
}

bool is_empty(const NamedTensor& tensor) noexcept {
  for (int axis = 0; axis < 4; ++axis) {
    if (tensor.size[axis] == 0) return true;
  }
  return false;
}

} // namespace

const char* type_name(DataType type) noexcept {
  switch (type) {
  case DataType::none:
    return "none";
  case DataType::f32:
    return "f32";
  case DataType::f16:
    return "f16";
  case DataType::bf16:
    return "bf16";
  case DataType::boolean:
    return "boolean";
  case DataType::i64:
    return "i64";
  }
  return "unknown";
}

Status check_tensor(const NamedTensor& tensor, DataType type) noexcept {
  if (tensor.type != type) {
    return Status::error(StatusCode::invalid_argument, "%s: type is %s; it must be %s", tensor.name,
                         type_name(tensor.type), type_name(type));
  }
  for (int axis = 0; axis < 4; ++axis) {
    if (tensor.size[axis] < 0)
      return invalid_axis(tensor, "size", axis, tensor.size[axis], "0 or more");
    if (tensor.stride[axis] < 0)
      return invalid_axis(tensor, "stride", axis, tensor.stride[axis], "0 or more");
    if (tensor.is_output && tensor.stride[axis] == 0 && tensor.size[axis] > 1 &&
        !is_empty(tensor)) {
      return invalid_axis(tensor, "stride", axis, 0,
                          "above 0 in an output, where the size is above 1");
    }
  }
  if (is_empty(tensor)) return {};
  if (!offsets_fit(tensor)) {
    return Status::error(
        StatusCode::invalid_argument,
        "%s: sizes [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "] with strides [%" PRId64
        ", %" PRId64 ", %" PRId64 ", %" PRId64 "] overflow; offsets must fit in 64 bits",
        tensor.name, tensor.size[0], tensor.size[1], tensor.size[2], tensor.size[3],
        tensor.stride[0], tensor.stride[1], tensor.stride[2], tensor.stride[3]);
  }
  if (tensor.data == nullptr) {
    return Status::error(StatusCode::invalid_argument,
                         "%s: data is nullptr; it must point to the tensor", tensor.name);
  }
  const std::size_t alignment = alignment_of(type);
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % alignment != 0) {
    return Status::error(StatusCode::invalid_argument,
                         "%s: data is %p; it must be a multiple of %zu", tensor.name, tensor.data,
                         alignment);
  }
  return {};
}

Status check_size(const NamedTensor& tensor, int axis, std::int64_t wanted,
                  const char* must_be) noexcept {
  if (tensor.size[axis] == wanted) return {};
  return Status::error(StatusCode::invalid_argument,
                       "%s: size[%d] (%s) is %" PRId64 "; it must be %" PRId64 ", %s", tensor.name,
                       axis, axis_names[axis], tensor.size[axis], wanted, must_be);
}

Status check_broadcast(const NamedTensor& tensor, const std::int64_t (&wanted)[4],
                       TensorView* view) noexcept {
  for (int axis = 0; axis < 4; ++axis) {
    if (tensor.size[axis] == 1) {
      view->stride[axis] = 0;
    } else if (tensor.size[axis] != wanted[axis]) {
      return Status::error(StatusCode::invalid_argument,
                           "%s: size[%d] (%s) is %" PRId64 "; it must be 1 or %" PRId64,
                           tensor.name, axis, axis_names[axis], tensor.size[axis], wanted[axis]);
    }
  }
  return {};
}

Status check_apart(const NamedTensor& output, const NamedTensor& other) noexcept {
  if (output.data == nullptr || output.data != other.data || is_empty(output) || is_empty(other))
    return {};
  return Status::error(StatusCode::invalid_argument,
                       "%s: data is %p, where %s starts; it must be memory of its own", output.name,
                       output.data, other.name);
}

} // namespace simdattn
