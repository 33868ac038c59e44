#include "bool_mask.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>

namespace simdattn::test {
namespace {

std::size_t extent(const TensorView& view) {
  std::size_t elements = 1;
  for (int axis = 0; axis < 4; ++axis) {
    if (view.size[axis] == 0) return 0;
    elements += static_cast<std::size_t>((view.size[axis] - 1) * view.stride[axis]);
  }
  return elements;
}

} // namespace

BoolMask::BoolMask(const TestTensor& additive, Placement placement)
    : view_(additive.view()), elements_(extent(view_), placement) {
  std::memset(elements_.data(), 0xff, elements_.size()); // in the gaps: no bool at all
  auto* elements = reinterpret_cast<bool*>(elements_.data());
  for_each_index(additive.shape(), [&](auto b, auto h, auto i, auto j) {
    elements[b * view_.stride[0] + h * view_.stride[1] + i * view_.stride[2] +
             j * view_.stride[3]] = additive.at(b, h, i, j) != -INFINITY;
  });
  view_.data = elements;
  view_.type = DataType::boolean;
}

} // namespace simdattn::test
