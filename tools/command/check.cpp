// `simdattn check`: random calls, held against the reference.

#include "differential/trial.hpp"
#include "subcommand.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace simdattn::command {
namespace {

using Clock = std::chrono::steady_clock;

struct CheckOptions {
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> cases, single_case;
  std::optional<double> seconds;
  std::string isa;
};

// A line on stderr that is written over and over, when someone looks at it.
class ProgressBar {
public:
  ProgressBar() : shown_(isatty(STDERR_FILENO) == 1) {}

  void show(double share, const differential::Report& report) {
    const Clock::time_point now = Clock::now();
    if (!shown_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    constexpr int width = 40;
    const int filled = static_cast<int>(share * width);
    const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                            std::string(static_cast<std::size_t>(width - filled), '.');
    std::fprintf(stderr, "\r[%s] %3d %%  %s cases, %s failures", bar.c_str(),
                 static_cast<int>(share * 100), std::to_string(report.cases).c_str(),
                 std::to_string(report.failures).c_str());
  }
  // Takes the line away, so that others can write.
  void clear() const {
    if (shown_) std::fprintf(stderr, "\r%*s\r", 79, "");
  }

private:
  bool shown_;
  Clock::time_point next_{};
};

std::vector<const Implementation*> implementations_of(const std::string& isa) {
  if (const Implementation* one = implementation_option(isa); one != nullptr) return {one};
  std::vector<const Implementation*> supported;
  for (int index = 0; index < implementation_count(); ++index) {
    if (implementation_supported(implementation_at(index)))
      supported.push_back(implementation_at(index));
  }
  return supported;
}

std::string names_of(const std::vector<const Implementation*>& implementations) {
  std::string names;
  for (const Implementation* one : implementations) {
    if (!names.empty()) names += ", ";
    names += implementation_name(one);
  }
  return names;
}

int check_one(const CheckOptions& options,
              const std::vector<const Implementation*>& implementations) {
  differential::Trial trial(options.seed, *options.single_case);
  std::printf("%s\n", trial.describe().c_str());
  int exit_code = exit_success;
  for (const Implementation* one : implementations) {
    const std::string failure = trial.run(one);
    std::printf("%s: %s\n", implementation_name(one), failure.empty() ? "ok" : failure.c_str());
    if (!failure.empty()) exit_code = exit_beyond_tolerance;
  }
  return exit_code;
}

// How much of the work is done: by cases or by time, whichever ends it first.
double share_done(const CheckOptions& options, std::uint64_t cases, std::uint64_t most_cases,
                  double seconds) {
  const double by_cases = static_cast<double>(cases) / static_cast<double>(most_cases);
  const double by_time = options.seconds ? seconds / *options.seconds : 0.0;
  return std::min(std::max(by_cases, by_time), 1.0);
}

int check_many(const CheckOptions& options,
               const std::vector<const Implementation*>& implementations) {
  constexpr std::uint64_t default_cases = 20'000;
  const std::uint64_t without_count =
      options.seconds ? std::numeric_limits<std::uint64_t>::max() : default_cases;
  const std::uint64_t most_cases = options.cases.value_or(without_count);
  const Clock::time_point start = Clock::now();
  ProgressBar bar;
  std::size_t printed = 0;
  const differential::Report report = differential::run_trials(
      options.seed, most_cases, implementations, [&](const differential::Report& so_far) {
        for (; printed < so_far.first_failures.size(); ++printed) {
          bar.clear();
          std::printf("%s\n\n", so_far.first_failures[printed].c_str());
          std::fflush(stdout);
        }
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        bar.show(share_done(options, so_far.cases, most_cases, seconds), so_far);
        return !options.seconds || seconds < *options.seconds;
      });
  bar.clear();
  std::printf("%s cases of seed %s on %s: ", std::to_string(report.cases).c_str(),
              std::to_string(options.seed).c_str(), names_of(implementations).c_str());
  if (report.failures == 0) {
    std::printf("all within their tolerance\n");
    return exit_success;
  }
  std::printf("%s failures\n", std::to_string(report.failures).c_str());
  return exit_beyond_tolerance;
}

} // namespace

Subcommand add_check(CLI::App& parent) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* app = parent.add_subcommand(
      "check", "Hold random calls against the reference: any shape, layout and option");
  // CLI11 alone takes -1 for the largest unsigned number.
  const CLI::Range any_index(std::int64_t{0}, std::numeric_limits<std::int64_t>::max());
  const CLI::Range any_count(std::int64_t{1}, std::numeric_limits<std::int64_t>::max());
  app->add_option("--seed", options->seed, "Which random calls (default: 1)")->check(any_index);
  CLI::Option* cases = app->add_option("--cases", options->cases,
                                       "How many (default: 20000, or no end with --seconds)")
                           ->check(any_count);
  CLI::Option* seconds = app->add_option("--seconds", options->seconds, "Stop after this time")
                             ->check(CLI::Range(1e-3, 1e9));
  app->add_option("--case", options->single_case,
                  "Run this case of the seed alone, and show what it is")
      ->check(any_index)
      ->excludes(cases)
      ->excludes(seconds);
  app->add_option("--isa", options->isa,
                  "The implementation (default: every one that this CPU supports)");
  refuse_empty_values(*app);
  return {app, [options] {
            const std::vector<const Implementation*> implementations =
                implementations_of(options->isa);
            return options->single_case ? check_one(*options, implementations)
                                        : check_many(*options, implementations);
          }};
}

} // namespace simdattn::command
