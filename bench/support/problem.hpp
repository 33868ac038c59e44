#pragma once
// A named shape with its tensors.

#include "buffer.hpp"
#include "peak/measure.hpp"
#include "shapes.hpp"

#include <memory>
#include <vector>

namespace simdattn::bench {

/// The named shapes and then those that grow, by number; nullptr when there is none.
const Shape* shape_at(int index);

/// The data of a shape's tensors, each dense in the shape's layout.
struct TensorData {
  const float *query, *key, *value;
  float* output;
};
AttentionTensors tensors_of(const Shape& shape, const TensorData& data);
AttentionOptions options_of(const Shape& shape);

/// Query, key and value from N(0, 1), and an output, all in memory that every contender shares.
class BenchProblem {
public:
  explicit BenchProblem(const Shape& shape);

  const Shape& shape() const noexcept { return shape_; }
  AttentionTensors tensors() noexcept;
  AttentionOptions options() const noexcept { return options_of(shape_); }
  /// What one call is measured by: the arithmetic, and where there are few queries, reading keys
  /// and values.
  peak::Work work(const char* isa, int threads) noexcept;

  /// Whether the output is what the library computes, up to rounding: what a contender must show
  /// before its time counts. Errors say by how much it is off.
  Status check_output();

private:
  Shape shape_;
  Buffer query_, output_;
  /// Keys, then values: one memory to sample the reading of. Problems that differ in their queries
  /// alone share it.
  std::shared_ptr<const Buffer> key_value_;
  std::vector<float> expected_;
};

/// The problem of a shape; made once, and kept for the contenders that follow.
BenchProblem& problem_of(const Shape& shape);

} // namespace simdattn::bench
