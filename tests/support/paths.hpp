#pragma once
// The ways in which the library computes one and the same thing.

#include "test_problem.hpp"

#include <gtest/gtest.h>

namespace simdattn::test {

/// Runs a problem by the staged calls (scores, softmax, weighted sum), then in one call without
/// weights, then with, whose results stay. Whether each is what the oracle says, or `expected`. No
/// excluded value may be NaN or infinite: the last step is a plain product.
::testing::AssertionResult runs_correctly_on_every_path(TestProblem& problem,
                                                        const Implementation* implementation);
::testing::AssertionResult runs_correctly_on_every_path(TestProblem& problem,
                                                        const Implementation* implementation,
                                                        const reference::Expected& expected);

} // namespace simdattn::test
