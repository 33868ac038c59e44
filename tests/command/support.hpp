#pragma once
// Drives the `simdattn` command as a user does: files in, exit code and text out.

#include "support/npy.hpp"

#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace simdattn::test {

using Shape = std::vector<std::int64_t>;

struct Finished {
  int exit_code; ///< 128 and more: ended by a signal
  std::string out;
  std::string err;
};

/// Values of N(0, 1), the same for the same seed.
NpyTensor normal(const Shape& shape, unsigned seed);

void write_npy(const std::filesystem::path& path, const NpyTensor& tensor);
/// The same array with its elements in Fortran order.
void write_fortran_npy(const std::filesystem::path& path, const NpyTensor& tensor);

/// Names of the implementations that the library was built with, for INSTANTIATE_TEST_SUITE_P.
std::vector<std::string> implementation_names();
bool supported(const std::string& implementation);

/// A test with a folder of its own, which goes when the test ends.
class CommandTest : public testing::Test {
protected:
  CommandTest();
  ~CommandTest() override;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// The names of all files there now, sorted.
  std::vector<std::string> files() const;
  /// Runs `simdattn ARGUMENTS` in the folder. `before` goes in front of it, in the words of the
  /// shell.
  Finished simdattn(const std::string& arguments, const std::string& before = "") const;
  /// Writes q.npy, k.npy and v.npy.
  void write_inputs(const Shape& query, const Shape& key, const Shape& value) const;

private:
  std::filesystem::path folder_;
};

/// The same, once for each implementation; skips those that this CPU can't run.
class EachImplementation : public CommandTest, public testing::WithParamInterface<std::string> {
protected:
  void SetUp() override;
  Finished run(const std::string& arguments) const {
    return simdattn("run --isa " + GetParam() + " " + arguments);
  }
};

inline constexpr const char* inputs = "--query q.npy --key k.npy --value v.npy ";

} // namespace simdattn::test
