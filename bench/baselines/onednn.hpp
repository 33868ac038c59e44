#pragma once
// oneDNN's attention, unfused: matmul with scale, softmax, matmul. The contender of the benchmarks
// and a second oracle of the tests. Only built where oneDNN 2.6 or later is installed.

#include "simdattn/attention.hpp"

#include <memory>
#include <string>
#include <vector>

namespace simdattn::baseline {

/// One primitive, and the implementation that oneDNN chose for it.
struct OnednnStep {
  std::string name;           ///< "scores", "softmax" or "weighted sum"
  std::string implementation; ///< such as "gemm:jit"
};

/// The three primitives for one set of sizes and strides, and their scratch. Query, key, value and
/// output are read and written where they lie, in any layout.
class OnednnAttention {
public:
  /// Makes the primitives for tensors that the library accepts and that are not empty. `data`
  /// pointers are not looked at, and lse and weights are not computed.
  ///
  /// Knows f32, scale and causal. Fails with invalid_argument where more is asked for, where oneDNN
  /// has no primitive, where it would fall back to its
  /// unoptimised "ref" implementation, and where a row sees no key (oneDNN gives NaN there).
  static Status create(const AttentionTensors& tensors, const AttentionOptions& options,
                       int threads, std::unique_ptr<OnednnAttention>* attention) noexcept;
  ~OnednnAttention();

  /// Computes `tensors.output`. Sizes, strides and options must be those of create().
  Status run(const AttentionTensors& tensors) noexcept;

  /// The softmax of the last run: dense [B, Hq, Lq, Lkv].
  const float* weights() const noexcept;
  /// Bytes of the scores and of the primitives' scratch.
  std::size_t memory() const noexcept;
  /// What oneDNN chose, in the order of the calls.
  const std::vector<OnednnStep>& steps() const noexcept;

private:
  struct Primitives;
  explicit OnednnAttention(std::unique_ptr<Primitives> primitives) noexcept;
  std::unique_ptr<Primitives> primitives_;
};

/// The version of the oneDNN that is linked, such as "2.6.3".
std::string onednn_version();

} // namespace simdattn::baseline
