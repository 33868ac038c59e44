#pragma once
// A named shape with its tensors.

#include "buffer.hpp"
#include "shapes.hpp"

#include <vector>

namespace simdattn::bench {

/// Query, key and value from N(0, 1), and an output, all in memory that every contender shares.
class BenchProblem {
public:
  explicit BenchProblem(const Shape& shape);

  const Shape& shape() const noexcept { return shape_; }
  AttentionTensors tensors() noexcept;
  AttentionOptions options() const noexcept;

  /// Whether the output is what the library computes, up to rounding: what a contender must show
  /// before its time counts. Errors say by how much it is off.
  Status check_output();

private:
  Shape shape_;
  Buffer query_, key_, value_, output_;
  std::vector<float> expected_;
};

/// The problem of a shape; made once, and kept for the contenders that follow.
BenchProblem& problem_of(const Shape& shape);

} // namespace simdattn::bench
