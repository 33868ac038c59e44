#include "test_tensor.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace simdattn::test {
namespace {

using Strides = std::array<std::int64_t, 4>;

Strides strides_of(const Shape& shape, Layout layout) {
  const auto [batch, heads, seq, dim] = shape;
  switch (layout) {
  case Layout::bhsd:
    return {heads * seq * dim, seq * dim, dim, 1};
  case Layout::bshd:
    return {seq * heads * dim, dim, heads * dim, 1};
  case Layout::gapped: {
    const std::int64_t row = dim + 5, head = seq * row + 3, entry = heads * head + 7;
    return {entry, head, row, 1};
  }
  case Layout::dim_outermost:
    return {heads * dim * seq, dim * seq, 1, seq};
  case Layout::every_third:
    return {heads * seq * dim * 3, seq * dim * 3, dim * 3, 3};
  case Layout::expanded_head:
    return {seq * dim, 0, dim, 1};
  case Layout::expanded:
    return {0, 0, dim, 1};
  }
  return {};
}

// The number of floats from the first element to the last, both inclusive.
std::size_t extent(const Shape& shape, const Strides& strides) {
  if (shape.count() == 0) return 0;
  return static_cast<std::size_t>(1 + (shape.batch - 1) * strides[0] +
                                  (shape.heads - 1) * strides[1] + (shape.seq - 1) * strides[2] +
                                  (shape.dim - 1) * strides[3]);
}

} // namespace

const char* name_of(Layout layout) noexcept {
  switch (layout) {
  case Layout::bhsd:
    return "bhsd";
  case Layout::bshd:
    return "bshd";
  case Layout::gapped:
    return "gapped";
  case Layout::dim_outermost:
    return "dim_outermost";
  case Layout::every_third:
    return "every_third";
  case Layout::expanded_head:
    return "expanded_head";
  case Layout::expanded:
    return "expanded";
  }
  return "";
}

TestTensor::TestTensor(const Shape& shape, Layout layout, Placement placement)
    : shape_(shape), stride_(strides_of(shape, layout)),
      buffer_(extent(shape, stride_) * sizeof(float), placement) {
  reset();
}

TensorView TestTensor::view() const noexcept {
  return strided<const float>(data(), shape_.batch, shape_.heads, shape_.seq, shape_.dim,
                              stride_[0], stride_[1], stride_[2], stride_[3]);
}

MutableTensorView TestTensor::mutable_view() noexcept {
  return strided<float>(data(), shape_.batch, shape_.heads, shape_.seq, shape_.dim, stride_[0],
                        stride_[1], stride_[2], stride_[3]);
}

float& TestTensor::at(std::int64_t batch, std::int64_t head, std::int64_t i,
                      std::int64_t d) noexcept {
  return data()[offset(batch, head, i, d)];
}

float TestTensor::at(std::int64_t batch, std::int64_t head, std::int64_t i,
                     std::int64_t d) const noexcept {
  return data()[offset(batch, head, i, d)];
}

void TestTensor::fill_normal(std::mt19937_64& random, float deviation) {
  std::normal_distribution<float> normal(0.0f, deviation);
  for_each_index(shape_, [&](auto b, auto h, auto i, auto d) { at(b, h, i, d) = normal(random); });
}

void TestTensor::fill(float value) {
  for_each_index(shape_, [&](auto b, auto h, auto i, auto d) { at(b, h, i, d) = value; });
}

void TestTensor::fill_row(std::int64_t batch, std::int64_t head, std::int64_t i, float value) {
  for (std::int64_t d = 0; d < shape_.dim; ++d)
    at(batch, head, i, d) = value;
}

void TestTensor::fill_from(const TestTensor& other) {
  for_each_index(shape_,
                 [&](auto b, auto h, auto i, auto d) { at(b, h, i, d) = other.at(b, h, i, d); });
}

void TestTensor::reset() {
  std::fill_n(data(), buffer_.size() / sizeof(float), std::bit_cast<float>(untouched_bits));
}

bool TestTensor::gaps_untouched() const {
  std::vector<bool> inside(buffer_.size() / sizeof(float));
  for_each_index(shape_,
                 [&](auto b, auto h, auto i, auto d) { inside[offset(b, h, i, d)] = true; });
  for (std::size_t i = 0; i < inside.size(); ++i)
    if (!inside[i] && !is_untouched(data()[i])) return false;
  return true;
}

std::vector<double> elements_of(const TensorView& tensor) {
  std::vector<double> elements;
  const auto* data = static_cast<const float*>(tensor.data);
  for_each_index({tensor.size[0], tensor.size[1], tensor.size[2], tensor.size[3]},
                 [&](auto b, auto h, auto i, auto d) {
                   elements.push_back(data[b * tensor.stride[0] + h * tensor.stride[1] +
                                           i * tensor.stride[2] + d * tensor.stride[3]]);
                 });
  return elements;
}

bool is_untouched(float value) noexcept {
  return std::bit_cast<std::uint32_t>(value) == untouched_bits;
}

bool same_bits(float a, float b) noexcept {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

} // namespace simdattn::test
