#pragma once
// A tensor that owns its memory, in any of the layouts that callers use.

#include "guarded_buffer.hpp"
#include "simdattn/tensor.hpp"

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace simdattn::test {

struct Shape {
  std::int64_t batch, heads, seq, dim;
  std::int64_t count() const noexcept { return batch * heads * seq * dim; }
};

/// body(b, h, i, d) for every element, the last index first.
template <class Body>
void for_each_index(const Shape& shape, Body&& body) {
  for (std::int64_t b = 0; b < shape.batch; ++b)
    for (std::int64_t h = 0; h < shape.heads; ++h)
      for (std::int64_t i = 0; i < shape.seq; ++i)
        for (std::int64_t d = 0; d < shape.dim; ++d)
          body(b, h, i, d);
}

enum class Layout {
  bhsd,
  bshd,
  gapped,        ///< as bhsd, with gaps behind every row, head and batch entry
  dim_outermost, ///< [batch, heads, dim, seq]: the innermost stride is seq
  every_third,   ///< as bhsd, with an innermost stride of 3
  expanded_head, ///< stride 0 along heads; inputs only
  expanded,      ///< stride 0 along batch and heads; inputs only
};
inline constexpr Layout input_layouts[] = {
    Layout::bhsd,        Layout::bshd,          Layout::gapped,  Layout::dim_outermost,
    Layout::every_third, Layout::expanded_head, Layout::expanded};
inline constexpr Layout output_layouts[] = {Layout::bhsd, Layout::bshd, Layout::gapped,
                                            Layout::dim_outermost, Layout::every_third};
const char* name_of(Layout layout) noexcept;

/// What a tensor's memory holds until someone writes it, gaps included: a NaN that no arithmetic
/// makes.
inline constexpr std::uint32_t untouched_bits = 0x7fc0beefu;

/// The tensor lies between guard pages, flush against the one that `placement` names. All of it is
/// a NaN until it is filled.
class TestTensor {
public:
  TestTensor(const Shape& shape, Layout layout, Placement placement = Placement::back);

  const Shape& shape() const noexcept { return shape_; }
  TensorView view() const noexcept;
  MutableTensorView mutable_view() noexcept;
  float& at(std::int64_t batch, std::int64_t head, std::int64_t i, std::int64_t d) noexcept;
  float at(std::int64_t batch, std::int64_t head, std::int64_t i, std::int64_t d) const noexcept;

  void fill_normal(std::mt19937_64& random, float deviation = 1.0f);
  void fill(float value);
  /// Sets one row, all its dims, of one head to `value`.
  void fill_row(std::int64_t batch, std::int64_t head, std::int64_t i, float value);
  /// Copies the elements of a tensor of the same shape.
  void fill_from(const TestTensor& other);
  /// Forgets everything: the whole memory is as after construction.
  void reset();

  /// Whether every element outside the view is as it was.
  bool gaps_untouched() const;

private:
  std::int64_t offset(std::int64_t batch, std::int64_t head, std::int64_t i,
                      std::int64_t d) const noexcept {
    return batch * stride_[0] + head * stride_[1] + i * stride_[2] + d * stride_[3];
  }
  float* data() const noexcept { return reinterpret_cast<float*>(buffer_.data()); }

  Shape shape_;
  std::array<std::int64_t, 4> stride_;
  GuardedBuffer buffer_;
};

/// The elements of an f32 tensor in [batch, heads, seq, dim] order.
std::vector<double> elements_of(const TensorView& tensor);

/// Whether a value is still what the memory held before anyone wrote it.
bool is_untouched(float value) noexcept;
/// Whether two floats are the same bits.
bool same_bits(float a, float b) noexcept;

} // namespace simdattn::test
