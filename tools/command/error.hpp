#pragma once
// How the command ends when it can't do what it was asked for.

#include "simdattn/status.hpp"

#include <stdexcept>

namespace simdattn::command {

/// Exit codes of the command.
enum ExitCode : int {
  exit_success = 0,
  exit_beyond_tolerance = 1, ///< the work was done, and its result is not what it must be
  exit_bad_input = 2,        ///< a file, an option or the environment is not what it must be
};

/// Ends the command with exit_bad_input and this message, which names the file or option.
class InputError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws InputError with the status's message when it is not ok.
inline void require_ok(const Status& status) {
  if (!status.ok()) throw InputError(status.message());
}

} // namespace simdattn::command
