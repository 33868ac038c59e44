// Bad files and options: exit code 2, a message that names what is wrong, and no output file left
// behind.

#include "support.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <xtensor/xarray.hpp>
#include <xtensor/xnpy.hpp>

namespace simdattn::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class BadInput : public CommandTest {
protected:
  BadInput() { write_inputs({2, 3, 8}, {2, 5, 8}, {2, 5, 4}); }

  void write_bytes(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  // A version 1.0 file with this header and `data_bytes` bytes of zeros.
  void write_header(const std::string& name, const std::string& header,
                    std::size_t data_bytes = 0) const {
    const std::string text = header + "\n";
    std::string bytes = "\x93NUMPY\x01";
    bytes += '\0';
    bytes += static_cast<char>(text.size() & 255);
    bytes += static_cast<char>(text.size() >> 8);
    write_bytes(name, bytes + text + std::string(data_bytes, '\0'));
  }
  // Runs with further arguments and expects the message to have all of `wanted`.
  void expect_error(const std::string& arguments, const std::vector<std::string>& wanted,
                    const std::string& before = "") const {
    const std::vector<std::string> before_it = files();
    const Finished finished = simdattn("run " + arguments, before);
    EXPECT_EQ(finished.exit_code, 2) << arguments << "\n" << finished.out << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("simdattn: "));
    for (const std::string& part : wanted)
      EXPECT_THAT(finished.err, HasSubstr(part)) << arguments;
    EXPECT_EQ(files(), before_it) << arguments;
  }
  void expect_query_error(const std::string& query, const std::string& wanted) const {
    expect_error("--query " + query + " --key k.npy --value v.npy --output o.npy",
                 {"--query " + query, wanted});
  }
};

TEST_F(BadInput, FileThatIsNotThere) { expect_query_error("missing.npy", "no such file"); }

TEST_F(BadInput, Directory) { expect_query_error("..", "is a directory"); }

TEST_F(BadInput, Device) { expect_query_error("/dev/zero", "is not a regular file"); }

TEST_F(BadInput, EmptyFile) {
  write_bytes("e.npy", "");
  expect_query_error("e.npy", "is not an .npy file");
}

TEST_F(BadInput, FileOfAnotherKind) {
  write_bytes("t.npy", "0.1 0.2 0.3\n0.4 0.5 0.6\n");
  expect_query_error("t.npy", "is not an .npy file");
}

TEST_F(BadInput, UnknownVersion) {
  write_bytes("n.npy", std::string("\x93NUMPY\x03\0\x10\0\0\0", 12) + std::string(16, ' '));
  expect_query_error("n.npy", "version 3.0");
}

TEST_F(BadInput, CutAnywhere) {
  std::ifstream stream(path("q.npy"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)),
                          std::istreambuf_iterator<char>());
  ASSERT_EQ(whole.size(), 128u + 2 * 3 * 8 * 4);
  for (const std::size_t size : {1u, 6u, 7u, 8u, 9u, 10u, 11u, 60u, 127u}) {
    write_bytes("cut.npy", whole.substr(0, size));
    expect_query_error("cut.npy", size < 8 ? "is not an .npy file" : "ends inside its header");
  }
  for (const std::size_t size : {128u, 129u, 200u, 319u}) {
    write_bytes("cut.npy", whole.substr(0, size));
    expect_query_error("cut.npy", "are too few for shape (2, 3, 8)");
  }
}

TEST_F(BadInput, MalformedHeaders) {
  const std::string shapes[] = {"(-2, 3, 8)", "(2, 4x2, 8)",
                                "(a, 3, 8)",  "(2 3 8",
                                "2, 3, 8",    "",
                                "(2,, 8)",    "(1234567890123456789012, 1)"};
  for (const std::string& shape : shapes) {
    write_header("h.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }",
                 192);
    expect_query_error("h.npy", "malformed header");
  }
  const std::string headers[] = {"",
                                 "{}",
                                 "{",
                                 " ",
                                 "{'descr': '<f4', 'shape': (2, 3, 8), }",
                                 "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3, 8), }",
                                 "{'shape': (2, 3, 8), 'fortran_order': False, 'descr': '<f4', }",
                                 std::string(20000, ' ') + "{'descr'",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                                     std::string(9000, '1')};
  for (const std::string& header : headers) {
    write_header("h.npy", header, 192);
    expect_query_error("h.npy", "malformed header");
  }
}

TEST_F(BadInput, ShapeFarBeyondTheFile) {
  for (const char* shape :
       {"(4294967296, 4294967296)", "(1000000000000, 64)", "(999999999999999999, 8)"}) {
    write_header("h.npy",
                 std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + ", }",
                 64);
    expect_query_error("h.npy", std::string("64 bytes of data are too few for shape ") + shape);
  }
}

TEST_F(BadInput, TypesOtherThanFloat32) {
  xt::dump_npy(path("d.npy"), xt::xarray<double>(xt::zeros<double>({2, 3, 8})));
  expect_query_error("d.npy", "dtype is '<f8', must be '<f4'");
  xt::dump_npy(path("i.npy"), xt::xarray<int>(xt::zeros<int>({2, 3, 8})));
  expect_query_error("i.npy", "dtype is '<i4', must be '<f4'");
  for (const char* type : {"'>f4'", "'<f2'", "'|b1'", "'|V2'", "'<U5'", "[('a', '<f4')]"}) {
    write_header(
        "t.npy",
        std::string("{'descr': ") + type + ", 'fortran_order': False, 'shape': (2, 3, 8), }", 192);
    expect_query_error("t.npy", "must be '<f4' (float32)");
  }
}

TEST_F(BadInput, Ranks) {
  for (const Shape& shape : {Shape{}, Shape{48}, Shape{1, 1, 2, 3, 8}}) {
    write_npy(path("r.npy"), normal(shape, 1));
    expect_query_error("r.npy", "must have 2, 3 or 4 dimensions");
  }
  write_npy(path("r.npy"), normal({5, 8}, 1));
  expect_error("--query q.npy --key r.npy --value v.npy --output o.npy",
               {"--key r.npy", "shape is (5, 8)", "must have 3 dimensions"});
  expect_error("--query q.npy --key k.npy --value r.npy --output o.npy",
               {"--value r.npy", "shape is (5, 8)", "must have 3 dimensions"});
}

TEST_F(BadInput, SizesThatDontFitNameTheTensorTheFileAndTheDimension) {
  write_npy(path("x.npy"), normal({2, 5, 7}, 1));
  expect_error("--query q.npy --key x.npy --value v.npy --output o.npy",
               {"key", "dim", "7", "x.npy", "(2, 5, 7)"});
  write_npy(path("x.npy"), normal({2, 6, 4}, 1));
  expect_error("--query q.npy --key k.npy --value x.npy --output o.npy",
               {"value", "seq", "6", "x.npy"});
  write_npy(path("x.npy"), normal({3, 5, 8}, 1));
  expect_error("--query q.npy --key x.npy --value v.npy --output o.npy",
               {"key", "batch", "3", "x.npy"});
  write_inputs({1, 4, 3, 8}, {1, 3, 5, 8}, {1, 3, 5, 8});
  expect_error("--query q.npy --key k.npy --value v.npy --output o.npy",
               {"key", "heads", "3", "k.npy"});
  write_inputs({3, 0}, {5, 0}, {5, 4});
  expect_error("--query q.npy --key k.npy --value v.npy --output o.npy",
               {"query", "dim", "q.npy has shape (3, 0)"});
}

TEST_F(BadInput, Options) {
  const std::string run = std::string(inputs) + "--output o.npy ";
  for (const char* threads : {"0", "-1", "abc", "1e99", "1.5", "99999999", "''"}) {
    expect_error(run + "--threads " + threads, {"--threads"});
  }
  for (const char* scale : {"nan", "inf", "-inf", "1e99", "abc", "1.0x", "''"}) {
    expect_error(run + "--scale " + scale, {"scale"});
  }
  expect_error(run + "--causal maybe", {"--causal", "top_left", "bottom_right"});
  for (const char* option : {"--weights", "--lse", "--isa", "--causal"}) {
    expect_error(run + option + " ''", {option});
  }
  expect_error(run + "--isa nonsense", {"--isa nonsense", "must be one of", "scalar"});
  expect_error(run + "--no-such-option", {"--no-such-option"});
  expect_error(run + "stray", {"stray"});
  expect_error("--query q.npy --key k.npy --value v.npy", {"--output"});
  expect_error("--query", {"--query"});
}

TEST_F(BadInput, ImplementationThatThisCpuCannotRun) {
  for (const std::string& name : implementation_names()) {
    if (supported(name)) continue;
    expect_error(std::string(inputs) + "--output o.npy --isa " + name,
                 {"--isa " + name, "can't run"});
  }
}

TEST_F(BadInput, ImplementationOfTheEnvironment) {
  expect_error(std::string(inputs) + "--output o.npy", {"SIMDATTN_ISA", "nonsense"},
               "SIMDATTN_ISA=nonsense");
}

TEST_F(BadInput, PlacesThatCannotBeWritten) {
  std::filesystem::create_directory(path("folder"));
  expect_error(std::string(inputs) + "--output folder", {"--output folder", "is a directory"});
  expect_error(std::string(inputs) + "--output none/o.npy",
               {"--output none/o.npy", "can't be written"});
  expect_error(std::string(inputs) + "--output q.npy/o.npy", {"--output q.npy/o.npy"});
  expect_error(std::string(inputs) + "--output /dev/null",
               {"--output /dev/null", "is not a regular file"});
  expect_error(std::string(inputs) + "--output ''", {"--output"});
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(BadInput, OneBadPlaceLeavesNoOtherOutput) {
  expect_error(std::string(inputs) + "--output o.npy --weights none/w.npy --lse l.npy",
               {"--weights none/w.npy"});
  expect_error(std::string(inputs) + "--output o.npy --weights w.npy --lse .",
               {"--lse .", "is a directory"});
}

TEST_F(BadInput, OneFileForTwoThings) {
  expect_error(std::string(inputs) + "--output o.npy --weights ./o.npy",
               {"--weights ./o.npy", "--output o.npy"});
  expect_error(std::string(inputs) + "--output o.npy --lse k.npy", {"--lse k.npy", "--key"});
}

TEST_F(BadInput, DiskThatIsFullLeavesNoOutput) {
  write_inputs({600, 8}, {600, 8}, {600, 4});
  // No file may grow past 64 KiB: the output (9.6 KB) fits, the weights (1.4 MB) don't.
  expect_error(std::string(inputs) + "--output o.npy --weights w.npy",
               {"--weights w.npy", "can't be written"}, "trap '' XFSZ; ulimit -f 128;");
}

TEST_F(BadInput, NoSubcommandOrAnUnknownOne) {
  EXPECT_EQ(simdattn("").exit_code, 2);
  EXPECT_EQ(simdattn("walk").exit_code, 2);
  EXPECT_EQ(simdattn("info --yaml").exit_code, 2);
}

} // namespace
} // namespace simdattn::test
