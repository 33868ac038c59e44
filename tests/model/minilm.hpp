#pragma once
// The tensors of a trained sentence-embedding model that lie in minilm/ of the shared data.

#include "simdattn/attention.hpp"
#include "support/implementations.hpp"
#include "support/npy.hpp"
#include "support/test_tensor.hpp"

#include <cstdint>
#include <string>

namespace simdattn::test {

/// What went into the attention of one layer and what came out, all [batch, heads, seq, …].
struct MiniLmLayer {
  NpyTensor query, key, value, probabilities, context;
};

/// Tests against the model's own results, on one implementation. Skipped where the data are not
/// there.
class MiniLmTest : public ImplementationTest {
protected:
  void SetUp() override;

  static MiniLmLayer read_layer(const std::string& input, int number);
  /// [batch, 1, 1, seq]: 0, or the lowest finite float for a key that doesn't count.
  static NpyTensor read_additive_mask(const std::string& input);
  /// [batch, 1, 1, seq]: true for a key that counts.
  static NpyMask read_bool_mask(const std::string& input);

  /// Runs a call, whose inputs are given, from C++ and from C, and compares output and weights with
  /// the model's, the log-sum-exp with float64.
  void expect_results(AttentionTensors tensors, const TensorView& context,
                      const TensorView& probabilities) const;
  void expect_results(const AttentionTensors& tensors, const MiniLmLayer& layer) const;
};

/// A whole file.
TensorView whole(const NpyTensor& file);
TensorView whole(const NpyMask& file);
/// One batch entry of a file.
TensorView entry(const NpyTensor& file, std::int64_t number);
/// The first rows, or columns, of a tensor.
TensorView rows_of(TensorView tensor, std::int64_t count);
TensorView columns_of(TensorView tensor, std::int64_t count);

} // namespace simdattn::test
