#include "support.hpp"

#include "simdattn/implementation.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xnpy.hpp>

namespace simdattn::test {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

} // namespace

NpyTensor normal(const Shape& shape, unsigned seed) {
  NpyTensor tensor{shape, std::vector<float>(static_cast<std::size_t>(xt::compute_size(shape)))};
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution;
  std::generate(tensor.elements.begin(), tensor.elements.end(),
                [&] { return distribution(generator); });
  return tensor;
}

void write_npy(const fs::path& path, const NpyTensor& tensor) {
  xt::dump_npy(path.string(), xt::adapt(tensor.elements, tensor.shape));
}

void write_fortran_npy(const fs::path& path, const NpyTensor& tensor) {
  const xt::xarray<float, xt::layout_type::column_major> array =
      xt::adapt(tensor.elements, tensor.shape);
  xt::dump_npy(path.string(), array);
}

std::vector<std::string> implementation_names() {
  std::vector<std::string> names;
  for (int i = 0; i < implementation_count(); ++i)
    names.push_back(implementation_name(implementation_at(i)));
  return names;
}

bool supported(const std::string& implementation) {
  return implementation_supported(find_implementation(implementation.c_str()));
}

CommandTest::CommandTest() {
  const testing::TestInfo& info = *testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string("simdattn-") + info.test_suite_name() + "-" + info.name() + "-" +
                     std::to_string(::getpid());
  std::replace(name.begin(), name.end(), '/', '-');
  folder_ = fs::path(testing::TempDir()) / name;
  fs::create_directories(folder_);
}

CommandTest::~CommandTest() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::vector<std::string> CommandTest::files() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Finished CommandTest::simdattn(const std::string& arguments, const std::string& before) const {
  const std::string out = folder_.string() + ".out";
  const std::string err = folder_.string() + ".err";
  const std::string line = "cd '" + folder_.string() + "' && " + before + " " + SIMDATTN_COMMAND +
                           " " + arguments + " > '" + out + "' 2> '" + err + "'";
  const int status = std::system(line.c_str());
  Finished finished{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(out),
                    contents(err)};
  fs::remove(out);
  fs::remove(err);
  return finished;
}

void CommandTest::write_inputs(const Shape& query, const Shape& key, const Shape& value) const {
  write_npy(path("q.npy"), normal(query, 1));
  write_npy(path("k.npy"), normal(key, 2));
  write_npy(path("v.npy"), normal(value, 3));
}

void EachImplementation::SetUp() {
  if (!supported(GetParam())) GTEST_SKIP() << "this CPU can't run " << GetParam();
}

} // namespace simdattn::test
