#include "npy.hpp"

#include <algorithm>
#include <xtensor/xarray.hpp>
#include <xtensor/xnpy.hpp>

namespace simdattn::test {

NpyTensor read_npy(const std::string& path) {
  const auto array = xt::load_npy<float>(path);
  NpyTensor tensor;
  tensor.shape.assign(array.shape().begin(), array.shape().end());
  tensor.elements.assign(array.begin(), array.end());
  return tensor;
}

NpyMask read_npy_mask(const std::string& path) {
  const auto array = xt::load_npy<bool>(path);
  NpyMask mask;
  mask.shape.assign(array.shape().begin(), array.shape().end());
  mask.elements = std::make_unique<bool[]>(array.size());
  std::copy(array.begin(), array.end(), mask.elements.get());
  return mask;
}

} // namespace simdattn::test
