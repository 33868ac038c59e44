#pragma once
// Reads .npy files.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace simdattn::test {

/// A dense float32 tensor in C order.
struct NpyTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> elements;
};

/// A dense tensor of bools in C order.
struct NpyMask {
  std::vector<std::int64_t> shape;
  std::unique_ptr<bool[]> elements;
};

/// Each reads a file, or throws what xtensor throws when it can't.
NpyTensor read_npy(const std::string& path);
NpyMask read_npy_mask(const std::string& path);

} // namespace simdattn::test
