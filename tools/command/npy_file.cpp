#include "npy_file.hpp"

#include "error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <xtensor/xadapt.hpp>
#include <xtensor/xnpy.hpp>

namespace simdattn::command {
namespace {

// The dictionary of a header, longest first; far more than an array of rank 32 needs.
constexpr std::size_t longest_header = 1000;

std::uintmax_t checked_file_size(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) throw InputError("no such file");
  if (error) throw InputError(error.message());
  if (std::filesystem::is_directory(status)) throw InputError("is a directory, must be a file");
  if (!std::filesystem::is_regular_file(status)) throw InputError("is not a regular file");
  return std::filesystem::file_size(path);
}

// The header's dictionary without spaces. The length is read here since xtensor 0.24 sign-extends
// its bytes.
std::string read_header_text(std::istream& stream, std::uintmax_t file_size) {
  unsigned char major = 0;
  unsigned char minor = 0;
  try {
    xt::detail::read_magic(stream, &major, &minor);
  } catch (const std::runtime_error&) {
    throw InputError("is not an .npy file");
  }
  if ((major != 1 && major != 2) || minor != 0) {
    throw InputError("has .npy format version " + std::to_string(major) + "." +
                     std::to_string(minor) + ", must be 1.0 or 2.0");
  }
  unsigned char length_bytes[4] = {};
  stream.read(reinterpret_cast<char*>(length_bytes), major == 1 ? 2 : 4);
  std::uintmax_t length = 0;
  for (int byte = 3; byte >= 0; --byte)
    length = length << 8 | length_bytes[byte];
  if (!stream || length > file_size) throw InputError("ends inside its header");

  std::string text(static_cast<std::size_t>(length), ' ');
  stream.read(text.data(), static_cast<std::streamsize>(length));
  if (!stream) throw InputError("ends inside its header");
  if (!text.empty() && text.back() == '\n') text.pop_back();
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

struct Header {
  DataType type = DataType::none;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

// xtensor's parser takes what it finds ("-5" as a huge size, "4x2" as 4, nothing at all as memory
// out of bounds), so it only gets what NumPy writes.
Header parse_header(const std::string& text, const NpyKind& kind) {
  static const std::regex form(
      R"(\{'descr':(.+),'fortran_order':(True|False),'shape':\(((\d{1,18}L?,)*(\d{1,18}L?)?)\),?\})");
  std::smatch match;
  if (text.size() > longest_header || !std::regex_match(text, match, form)) {
    throw InputError("has a malformed header");
  }
  Header header;
  const std::string f32 = "'" + xt::detail::build_typestring<float>() + "'";
  const std::string boolean = "'" + xt::detail::build_typestring<bool>() + "'";
  if (match[1].str() == f32) header.type = DataType::f32;
  if (kind.may_be_boolean && match[1].str() == boolean) header.type = DataType::boolean;
  if (header.type == DataType::none) {
    throw InputError("dtype is " + match[1].str() + ", must be " + f32 + " (float32)" +
                     (kind.may_be_boolean ? " or " + boolean + " (bool)" : ""));
  }
  std::string type;
  xt::detail::parse_header(text + '\n', type, &header.fortran_order, header.shape);
  return header;
}

// "2, 3 or 4".
std::string rank_text(const NpyKind& kind) {
  std::string text = std::to_string(kind.least_rank);
  for (std::size_t rank = kind.least_rank + 1; rank <= kind.most_rank; ++rank) {
    text += (rank == kind.most_rank ? " or " : ", ") + std::to_string(rank);
  }
  return text;
}

Array read_array(const std::string& path, const NpyKind& kind) {
  const std::uintmax_t file_size = checked_file_size(path);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw InputError(std::strerror(errno));
  const Header header = parse_header(read_header_text(stream, file_size), kind);

  const Shape shape(header.shape.begin(), header.shape.end());
  if (shape.size() < kind.least_rank || shape.size() > kind.most_rank) {
    throw InputError("shape is " + shape_text(shape) + ", must have " + rank_text(kind) +
                     " dimensions");
  }
  const std::uintmax_t present = file_size - static_cast<std::uintmax_t>(stream.tellg());
  const std::optional<std::size_t> bytes = array_bytes(header.type, shape);
  if (!bytes || *bytes > present) {
    throw InputError("is cut short: " + std::to_string(present) +
                     " bytes of data are too few for shape " + shape_text(shape));
  }
  Array array = zeros(header.type, shape, header.fortran_order);
  stream.read(reinterpret_cast<char*>(array.data.data()), static_cast<std::streamsize>(*bytes));
  if (!stream) throw InputError("can't be read");
  return array;
}

} // namespace

Array load_npy(const std::string& option, const std::string& path, const NpyKind& kind) {
  try {
    return read_array(path, kind);
  } catch (const InputError& error) {
    throw InputError(option + " " + path + ": " + error.what());
  }
}

void save_npy(std::ostream& stream, const Array& array) {
  const std::vector<std::size_t> shape(array.shape.begin(), array.shape.end());
  xt::detail::dump_npy_stream(
      stream, xt::adapt(values(array), xt::compute_size(shape), xt::no_ownership(), shape));
}

} // namespace simdattn::command
