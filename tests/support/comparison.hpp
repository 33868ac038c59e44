#pragma once
// Compares what the library wrote with what the oracle says.

#include "reference/reference.hpp"
#include "test_tensor.hpp"

#include <cstddef>
#include <functional>
#include <gtest/gtest.h>

namespace simdattn::test {

/// What one element must be. A tolerance of 0 asks for equality.
struct Demand {
  double value;
  double tolerance;
};

/// NaN or infinite on one side only never fulfils a demand. NaN asks for NaN; an infinity asks for
/// itself where the tolerance is 0, else for anything that is not finite, since an infinity of V
/// times a weight that f32 rounds to 0 is NaN. What nobody wrote fulfils nothing.
bool fulfils(float actual, const Demand& demand) noexcept;

/// Compares every element, in [batch, heads, seq, dim] order, with demand_at(its index in that
/// order).
::testing::AssertionResult elements_fulfil(const TestTensor& actual,
                                           const std::function<Demand(std::size_t)>& demand_at);

/// Compares a result with the oracle's, by the bounds of each row. A row that sees no key must be
/// exactly 0 and its log-sum-exp −inf; a weight that the oracle has as 0 must be exactly 0.
::testing::AssertionResult output_matches(const TestTensor& output,
                                          const reference::Expected& expected,
                                          const reference::Tolerance& tolerance);
::testing::AssertionResult lse_matches(const TestTensor& lse, const reference::Expected& expected,
                                       const reference::Tolerance& tolerance);
::testing::AssertionResult weights_match(const TestTensor& weights,
                                         const reference::Expected& expected,
                                         const reference::Tolerance& tolerance);
::testing::AssertionResult scores_match(const TestTensor& scores,
                                        const reference::Expected& expected,
                                        const reference::Tolerance& tolerance);

/// Whether two tensors of one shape hold the same bits.
::testing::AssertionResult same_elements(const TestTensor& actual, const TestTensor& expected);

/// The largest |actual − expected|; NaN when any element is NaN.
double largest_error(const TestTensor& actual, const std::vector<double>& expected);

} // namespace simdattn::test
