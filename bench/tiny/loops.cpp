// Compiled for each instruction set, with and without -ffast-math; SIMDATTN_LOOPS is the name of
// what it exports.

#include "loops.hpp"

namespace simdattn::bench {
namespace {

void attend(const LoopCall& call, const float* query, const float* key, const float* value,
            float* output) {
  float largest = -__builtin_inff();
  for (std::int64_t j = 0; j < call.keys; ++j) {
    float score = 0;
    for (std::int64_t d = 0; d < call.dim; ++d)
      score += query[d] * key[j * call.dim + d];
    call.weights[j] = score * call.scale;
    if (call.weights[j] > largest) largest = call.weights[j];
  }
  float sum = 0;
  for (std::int64_t j = 0; j < call.keys; ++j) {
    call.weights[j] = __builtin_expf(call.weights[j] - largest);
    sum += call.weights[j];
  }
  for (std::int64_t d = 0; d < call.value_dim; ++d)
    output[d] = 0;
  for (std::int64_t j = 0; j < call.keys; ++j) {
    const float weight = call.weights[j] / sum;
    for (std::int64_t d = 0; d < call.value_dim; ++d)
      output[d] += weight * value[j * call.value_dim + d];
  }
}

void run(const LoopCall& call) {
  for (std::int64_t head = 0; head < call.batch * call.heads; ++head) {
    const std::int64_t kv_head = head / (call.heads / call.kv_heads);
    for (std::int64_t i = 0; i < call.queries; ++i) {
      const std::int64_t row = head * call.queries + i;
      attend(call, call.query + row * call.dim, call.key + kv_head * call.keys * call.dim,
             call.value + kv_head * call.keys * call.value_dim, call.output + row * call.value_dim);
    }
  }
}

} // namespace

extern constinit const LoopFunction SIMDATTN_LOOPS = run;

} // namespace simdattn::bench
