#pragma once
// What computes attention in the benchmarks: our implementations and the baselines, behind one
// call.

#include "support/problem.hpp"

#include <functional>
#include <string>
#include <vector>

namespace simdattn::bench {

struct Contender {
  Status ready;                 ///< why it can't take part
  std::function<Status()> call; ///< computes the problem's output
  bool right = false;           ///< whether its output has been compared
  const char* isa = nullptr;    ///< whose FMA peak is its limit
  std::string label;            ///< what it says about itself
  std::size_t memory = 0;       ///< bytes that it needs beside the tensors
};

/// Those that take part on a shape: every implementation that this CPU runs, "onednn" where it was
/// built, and "reference", one-threaded, where that takes less than about a second.
std::vector<const char*> contender_names(const Shape& shape, int threads);

/// One of our implementations, with a workspace of its own. What the tensors refer to must outlive
/// it.
Contender make_ours(const Implementation* implementation, const AttentionTensors& tensors,
                    const AttentionOptions& options, int threads);

/// Everything that a call reuses is made here: primitives, workspace.
Contender make_contender(const std::string& name, BenchProblem& problem, int threads);

} // namespace simdattn::bench
