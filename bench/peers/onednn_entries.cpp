// oneDNN as a contender of tools/peers.py; only where it was found.

#include "baselines/onednn.hpp"
#include "simdattn/export.hpp"
#include "support/problem.hpp"

#include <memory>

namespace simdattn::bench {

/// oneDNN's primitives for one shape, and the tensors that they work on.
struct OnednnContender {
  AttentionTensors tensors;
  std::unique_ptr<baseline::OnednnAttention> attention;
  Status status; ///< of the last call
};

extern "C" {

/// Such as "2.6.3".
SIMDATTN_API const char* simdattn_bench_onednn_version() {
  static const std::string version = baseline::onednn_version();
  return version.c_str();
}

/// Makes the primitives for the shape at an index and tensors that lie as it says. Whether it could
/// is what simdattn_bench_onednn_error() tells.
SIMDATTN_API OnednnContender* simdattn_bench_onednn_make(int shape, const float* query,
                                                         const float* key, const float* value,
                                                         float* output, int threads) {
  const Shape& named = *shape_at(shape);
  auto made = std::make_unique<OnednnContender>();
  made->tensors = tensors_of(named, {query, key, value, output});
  made->status = baseline::OnednnAttention::create(made->tensors, options_of(named), threads,
                                                   &made->attention);
  return made.release();
}

/// Computes the output.
SIMDATTN_API void simdattn_bench_onednn_call(OnednnContender* onednn) {
  onednn->status = onednn->attention->run(onednn->tensors);
}

/// What went wrong in the last call; "" when nothing did.
SIMDATTN_API const char* simdattn_bench_onednn_error(const OnednnContender* onednn) {
  return onednn->status.message();
}

/// Bytes that it needs beside the tensors.
SIMDATTN_API std::size_t simdattn_bench_onednn_memory(const OnednnContender* onednn) {
  return onednn->attention->memory();
}

SIMDATTN_API void simdattn_bench_onednn_free(OnednnContender* onednn) { delete onednn; }

} // extern "C"
} // namespace simdattn::bench
