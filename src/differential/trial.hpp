#pragma once
// Random calls, run by an implementation and held against the oracle.

#include "differential/call.hpp"
#include "reference/reference.hpp"
#include "simdattn/implementation.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace simdattn::differential {

/// One case, which (seed, index) alone decide. The oracle's answer is computed once, for all runs.
class Trial {
public:
  Trial(std::uint64_t seed, std::uint64_t index);

  /// The case, for a reader.
  std::string describe() const { return text_of(call_.description()); }
  /// Runs it by one implementation. Empty when every result is right and nothing beside the results
  /// was written; else what is wrong, the case, and the command line that repeats it.
  std::string run(const Implementation* implementation);

private:
  Trial(std::uint64_t seed, std::uint64_t index, Random random);
  std::string failure(const Implementation* implementation);
  Status execute(const Implementation* implementation, bool& workspace_overrun);
  std::string check_results() const;

  std::uint64_t seed_, index_;
  Call call_;
  reference::Expected expected_;
  reference::Tolerance tolerance_;
  reference::Scores scores_; ///< where the case asks for scores
};

struct Report {
  std::uint64_t cases = 0;
  std::uint64_t failures = 0;              ///< of (case, implementation) pairs
  std::vector<std::string> first_failures; ///< texts, at most 5
};

/// Runs cases 0, 1, … `count` − 1 of a seed by every implementation given, until `go_on`, called
/// after each case, says false.
Report run_trials(std::uint64_t seed, std::uint64_t count,
                  const std::vector<const Implementation*>& implementations,
                  const std::function<bool(const Report&)>& go_on);

} // namespace simdattn::differential
