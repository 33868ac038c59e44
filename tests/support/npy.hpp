#pragma once
// Reads float32 .npy files.

#include <cstdint>
#include <string>
#include <vector>

namespace simdattn::test {

/// A dense tensor in C order.
struct NpyTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> elements;
};

/// Reads a file, or throws what xtensor throws when it can't.
NpyTensor read_npy(const std::string& path);

} // namespace simdattn::test
