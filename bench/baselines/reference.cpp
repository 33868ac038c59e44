#include "reference.hpp"

#include "reference/reference.hpp"

#include <cstdint>

namespace simdattn::baseline {

void run_reference(const AttentionTensors& tensors, const AttentionOptions& options) {
  const reference::Expected expected = reference::attention(tensors, options);
  const MutableTensorView& output = tensors.output;
  auto* data = static_cast<float*>(output.data);
  auto element = expected.output.begin();
  for (std::int64_t b = 0; b < output.size[0]; ++b)
    for (std::int64_t h = 0; h < output.size[1]; ++h)
      for (std::int64_t i = 0; i < output.size[2]; ++i)
        for (std::int64_t d = 0; d < output.size[3]; ++d)
          data[b * output.stride[0] + h * output.stride[1] + i * output.stride[2] +
               d * output.stride[3]] = static_cast<float>(*element++);
}

} // namespace simdattn::baseline
