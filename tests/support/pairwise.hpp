#pragma once
// Few cases that hold every pair of choices: most faults show when two choices meet, and all
// combinations of all choices would be millions.

#include <cstdint>
#include <functional>
#include <vector>

namespace simdattn::test {

/// One index for each factor.
using Combination = std::vector<int>;

/// Combinations of factors with `levels[f]` choices each, in which every pair of choices of two
/// factors occurs, but for pairs that `allowed` rules out. `allowed` sees combinations whose
/// undecided factors are −1, and must stay false once it is. The same arguments give the same
/// combinations.
std::vector<Combination> pairwise(const std::vector<int>& levels,
                                  const std::function<bool(const Combination&)>& allowed);

} // namespace simdattn::test
