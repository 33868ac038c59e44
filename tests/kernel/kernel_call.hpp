#pragma once
// One call of a kernel table's entry, put together by hand as src/kernel_table.hpp has it: every
// array of the scratch ends at a guard page, rows see any interval of keys, and keys come in any
// number of segments.

#include "kernel_table.hpp"
#include "support/guarded_buffer.hpp"
#include "support/test_tensor.hpp"

#include <cstdint>
#include <vector>

namespace simdattn::test {

struct KernelCase {
  int rows = 1;
  std::int64_t keys = 1;
  int dim = 1;
  int value_dim = 1;
  int key_block = 1;
  float scale = 0.25f;
  Layout query_layout = Layout::gapped; ///< of query, output and weights
  Layout key_layout =
      Layout::gapped; ///< of key and value; gathered when the innermost stride is not 1
  bool gather = false;
  std::vector<std::int64_t> segment_ends = {}; ///< where a new segment begins, in ascending order
};
std::ostream& operator<<(std::ostream& stream, const KernelCase& description);

/// Keys [first, end) that one row sees.
struct Interval {
  std::int64_t first, end;
};

class KernelCall {
public:
  /// Random tensors; every row sees every key.
  KernelCall(const KernelCase& description, const TileSizes& tiles);

  void fused(const KernelTable& table) { table.fused(block(query_)); }
  /// Writes the scores to weights.
  void scores(const KernelTable& table) { table.scores(block(query_)); }
  /// From source, [1, 1, rows, keys], to weights.
  void softmax(const KernelTable& table, const TestTensor& source) { table.softmax(block(source)); }
  /// From source, [1, 1, rows, keys], to output.
  void weighted_sum(const KernelTable& table, const TestTensor& source) {
    table.weighted_sum(block(source));
  }

  /// What fused must write, row by row by the oracle.
  struct Expected {
    std::vector<double> output, lse, weights, scores;
    double output_tolerance = 0, lse_tolerance = 0, weights_tolerance = 0, scores_tolerance = 0;
  };
  Expected expected() const;

  std::vector<Interval> intervals; ///< one for each row
  bool want_lse = true;
  bool want_weights = true;
  TestTensor output, lse, weights;
  TestTensor key, value; ///< all segments

private:
  AttentionBlock block(const TestTensor& source);
  std::vector<KeySegment> segments() const;
  KernelScratch scratch();

  KernelCase description_;
  TileSizes tiles_;
  TestTensor query_;
  std::vector<QueryRow> rows_;
  std::vector<KeySegment> segments_;
  std::vector<GuardedBuffer> scratch_;
};

} // namespace simdattn::test
