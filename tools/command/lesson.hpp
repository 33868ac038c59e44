#pragma once
// The formula walked through in the terminal.

#include "array.hpp"

namespace simdattn::command {

struct Lesson {
  Array weights; ///< (4, 10, 10): the softmax of the walk
  bool right;    ///< every result was within its tolerance of the reference
};

/// Prints the steps scores → scale → softmax → weighted sum for a seeded (4, 10, 64) input, the
/// single call that does them all, and how far both are from the reference.
Lesson teach();

/// A float32 array of N(0, 1) numbers; the same for the same seed.
Array random_normal(const Shape& shape, unsigned seed);

} // namespace simdattn::command
