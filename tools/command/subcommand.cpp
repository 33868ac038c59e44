#include "subcommand.hpp"

namespace simdattn::command {
namespace {

// Above what machines have, and below what exhausts a process: OpenMP ends the program when it
// can't make a thread.
constexpr int most_threads = 1024;

} // namespace

void refuse_empty_values(CLI::App& app) {
  const auto check = [](const std::string& value) {
    return std::string(value.empty() ? "the value is empty" : "");
  };
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_min() > 0) option->check(check, "");
  }
}

void add_threads_option(CLI::App& app, int& threads) {
  app.add_option("--threads", threads, "The most threads to use; by default what OpenMP would use")
      ->check(CLI::Range(1, most_threads));
}

const Implementation* implementation_option(const std::string& name) {
  if (name.empty()) return nullptr;
  std::string supported;
  for (int index = 0; index < implementation_count(); ++index) {
    const Implementation* implementation = implementation_at(index);
    const bool usable = implementation_supported(implementation);
    if (name == implementation_name(implementation)) {
      if (usable) return implementation;
      throw InputError("--isa " + name +
                       ": this CPU can't run it; `simdattn info` shows what it lacks");
    }
    if (usable)
      supported += std::string(supported.empty() ? "" : ", ") + implementation_name(implementation);
  }
  throw InputError("--isa " + name + ": is unknown, must be one of " + supported);
}

} // namespace simdattn::command
