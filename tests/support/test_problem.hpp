#pragma once
// One attention call as the tests describe it, and with the memory that it needs.

#include "comparison.hpp"
#include "simdattn/attention.hpp"
#include "test_tensor.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <iosfwd>

namespace simdattn::test {

/// Everything that decides a call but the numbers in its tensors.
struct AttentionCase {
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  std::int64_t dim = 1;
  std::int64_t value_dim = 1;
  AttentionOptions options = {};
  Layout query_layout = Layout::bhsd;
  Layout key_layout = Layout::bhsd;
  Layout value_layout = Layout::bhsd;
  Layout output_layout = Layout::bhsd;
  Placement placement = Placement::back;
  bool want_lse = true;
  bool want_weights = true;
  int threads = 1;
};
std::ostream& operator<<(std::ostream& stream, const AttentionCase& description);

/// A case with its tensors. They are unfilled at first: NaN everywhere.
struct TestProblem {
  explicit TestProblem(const AttentionCase& description);

  /// Query, key and value from N(0, 1), the query times `query_deviation`.
  void fill(std::uint64_t seed, float query_deviation = 1.0f);
  /// Query, key and value of another problem whose shapes are the same.
  void fill_from(const TestProblem& other);

  /// The call's tensors: `others`, and those of the problem itself.
  AttentionTensors tensors();
  /// The call, with a workspace of exactly the size asked for, between guard pages and full of NaN.
  /// `context` decides the rest; the number of threads comes from the case when it says none.
  Status run(const Implementation* implementation, Context context = {});

  reference::Expected expected();
  reference::Tolerance tolerance();

  AttentionCase description;
  /// Mask, lengths and the like, when the test wants some. It keeps what they refer to.
  AttentionTensors others;
  TestTensor query, key, value, output, lse, weights;
};

/// Whether every result of a call that was run is what the oracle says, and nothing else was
/// written.
::testing::AssertionResult is_correct(TestProblem& problem);
::testing::AssertionResult is_correct(TestProblem& problem, const reference::Expected& expected);
/// Runs it, then the same.
::testing::AssertionResult runs_correctly(TestProblem& problem,
                                          const Implementation* implementation,
                                          const Context& context = {});
/// Fills a problem with random data, then the same.
::testing::AssertionResult runs_correctly(const AttentionCase& description,
                                          const Implementation* implementation,
                                          std::uint64_t seed = 1);

} // namespace simdattn::test
