#include "npy.hpp"

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

} // namespace simdattn::test
