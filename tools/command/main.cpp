// The `simdattn` command: attention on .npy files, what this machine offers, and a demonstration.

#include "subcommand.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <string>

namespace {

using namespace simdattn::command;

int fail(const char* message) {
  std::fprintf(stderr, "simdattn: %s\n", message);
  return exit_bad_input;
}

int parse_and_execute(CLI::App& app, int argc, char** argv) {
  const Subcommand subcommands[] = {add_run(app), add_info(app), add_demo(app), add_check(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    return fail((std::string(error.what()) + "; see `simdattn --help`").c_str());
  }
  for (const Subcommand& subcommand : subcommands) {
    if (subcommand.app->parsed()) return subcommand.execute();
  }
  return fail("no subcommand");
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"simdattn: scaled dot-product attention on CPUs", "simdattn"};
  app.set_version_flag("--version", simdattn::version());
  app.require_subcommand(1);
  try {
    const int exit_code = parse_and_execute(app, argc, argv);
    if (std::fflush(stdout) != 0) return fail("standard output can't be written");
    return exit_code;
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
