#pragma once
// One head of a call as the oracle sees it: its tensors in double, and what every key of a row
// scores. The options that decide a score or hide a key are all here.

#include "simdattn/attention.hpp"

#include <cstdint>
#include <vector>

namespace simdattn::reference {

/// A dense row-major matrix.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> elements;

  double* row(std::int64_t index) noexcept { return elements.data() + index * columns; }
  const double* row(std::int64_t index) const noexcept { return elements.data() + index * columns; }
};

/// One [seq, dim] slice of an f32 tensor; the other, transposed, is [dim, seq].
Matrix slice(const TensorView& tensor, std::int64_t batch, std::int64_t head);
Matrix transposed_slice(const TensorView& tensor, std::int64_t batch, std::int64_t head);

/// The scores of one query head of one batch entry.
class HeadScores {
public:
  HeadScores(const AttentionTensors& tensors, const AttentionOptions& options, std::int64_t batch,
             std::int64_t head);

  std::int64_t query_count() const noexcept { return query_.rows; }
  std::int64_t key_count() const noexcept { return transposed_key_.columns; }
  double scale() const noexcept { return scale_; }

  /// Whether query `i` sees key `j`.
  bool visible(std::int64_t i, std::int64_t j) const noexcept;
  /// Writes the score of every key of row `i`: −inf where the key is not visible. A score that f32
  /// can't hold is infinite, since scores are f32 in the library.
  void row(std::int64_t i, double* scores) const;
  /// Writes |scale| · Σ_d |q_d · k_d| of every key of row `i`, visible or not: what the rounding of
  /// a score grows with.
  void magnitudes(std::int64_t i, double* magnitudes) const;

private:
  Matrix query_;
  Matrix transposed_key_;
  double scale_;
  Causal causal_;
};

/// The key/value head that query head `head` of `heads` uses.
std::int64_t kv_head(std::int64_t head, std::int64_t heads, std::int64_t kv_heads) noexcept;

} // namespace simdattn::reference
