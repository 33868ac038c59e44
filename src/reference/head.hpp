#pragma once
// One query head of one sequence as the oracle sees it: its tensors in double, and what every key
// of a row scores at every stage.

#include "elements.hpp"
#include "score_steps.hpp"
#include "sequence.hpp"
#include "simdattn/staged.hpp"

#include <cstdint>

namespace simdattn::reference {

/// The key/value head that query head `head` uses.
std::int64_t kv_head(std::int64_t head, std::int64_t heads, std::int64_t kv_heads) noexcept;

/// All values of a sequence that query head `head` uses, past ones first.
Matrix values_of(const AttentionTensors& tensors, const Sequence& sequence, std::int64_t head);

/// The scores of one query head of one sequence. Refers to the arguments it was made from.
class HeadScores {
public:
  HeadScores(const AttentionTensors& tensors, const AttentionOptions& options,
             const Sequence& sequence, std::int64_t head);

  /// Whether query `i` sees key `j`: lengths, causal, window and mask all let it.
  bool visible(std::int64_t i, std::int64_t j) const noexcept;
  /// Writes the score of every key of row `i` at a stage, given how far raw scores may be off. At
  /// the last stage it is −inf where the key is not visible; before that every key has one.
  void row(std::int64_t i, ScoreStage stage, double raw_error, Score* scores) const;
  /// Writes |scale| · Σ_d |q_d · k_d| of every key of row `i`, visible or not: what the rounding of
  /// a raw score grows with.
  void magnitudes(std::int64_t i, double* magnitudes) const;
  /// The score of the head's sink; −inf without one.
  double sink() const noexcept;

private:
  double mask_at(std::int64_t i, std::int64_t j) const noexcept;
  void mask_row(std::int64_t i, Score* scores) const;

  const AttentionTensors& tensors_;
  const AttentionOptions& options_;
  const Sequence& sequence_;
  std::int64_t head_;
  Matrix query_;
  Matrix transposed_key_;
  double scale_;
};

/// body(sequence, head, scores, first_row) for every head of every sequence; `first_row` is where
/// its rows begin in the dense results.
template <class Body>
void for_each_head(const AttentionTensors& tensors, const AttentionOptions& options, Body&& body) {
  const std::int64_t heads = tensors.query.size[1], queries = tensors.query.size[2];
  for (const Sequence& sequence : sequences_of(tensors, options))
    for (std::int64_t head = 0; head < heads; ++head)
      body(sequence, head, HeadScores(tensors, options, sequence, head),
           (sequence.batch * heads + head) * queries + sequence.first_query);
}

} // namespace simdattn::reference
