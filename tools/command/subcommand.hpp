#pragma once
// The subcommands of `simdattn`, and the options that several of them have.

#include "error.hpp"
#include "simdattn/simdattn.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace simdattn::command {

struct Subcommand {
  CLI::App* app;
  std::function<int()> execute; ///< called when the user asked for `app`; returns the exit code
};

Subcommand add_run(CLI::App& parent);
Subcommand add_info(CLI::App& parent);
Subcommand add_demo(CLI::App& parent);
Subcommand add_check(CLI::App& parent);

/// Makes an empty value, as from an unset variable of a script, an error in every option added so
/// far.
void refuse_empty_values(CLI::App& app);

/// Adds --threads: 0 in `threads` when it is not given.
void add_threads_option(CLI::App& app, int& threads);

/// The implementation that --isa names; nullptr when `name` is empty. Throws when it is unknown or
/// unsupported.
const Implementation* implementation_option(const std::string& name);

} // namespace simdattn::command
