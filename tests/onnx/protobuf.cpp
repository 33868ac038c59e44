#include "protobuf.hpp"

#include <stdexcept>
#include <string>

namespace simdattn::test {
namespace {

enum class WireType { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return position_ == bytes_.size(); }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - position_) fail("ends in the middle of a field");
    const std::string_view taken = bytes_.substr(position_, count);
    position_ += count;
    return taken;
  }

  std::uint64_t little_endian(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::string_view taken = take(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(taken[i])} << 8 * i;
    return value;
  }

  // Seven bits a byte, the lowest first; the highest bit says that more follow.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = little_endian(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail("has a number of more than ten bytes");
  }

  [[noreturn]] void fail(const char* what) const {
    throw std::runtime_error("a protobuf message " + std::string(what) + ", at byte " +
                             std::to_string(position_) + " of " + std::to_string(bytes_.size()));
  }

private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

ProtobufField read_field(Reader& reader) {
  const std::uint64_t key = reader.varint();
  ProtobufField field;
  field.number = static_cast<std::uint32_t>(key >> 3);
  switch (static_cast<WireType>(key & 7)) {
  case WireType::varint:
    field.integer = reader.varint();
    return field;
  case WireType::fixed64:
    field.integer = reader.little_endian(8);
    return field;
  case WireType::length_delimited:
    field.bytes = reader.take(reader.varint());
    return field;
  case WireType::fixed32:
    field.integer = reader.little_endian(4);
    return field;
  }
  reader.fail("has a field of an unknown wire type");
}

} // namespace

std::vector<ProtobufField> protobuf_fields(std::string_view message) {
  Reader reader(message);
  std::vector<ProtobufField> fields;
  while (!reader.at_end())
    fields.push_back(read_field(reader));
  return fields;
}

void append_integers(const ProtobufField& field, std::vector<std::int64_t>& integers) {
  if (field.bytes.data() == nullptr) { // not length-delimited: a number of its own
    integers.push_back(static_cast<std::int64_t>(field.integer));
    return;
  }
  Reader packed(field.bytes);
  while (!packed.at_end())
    integers.push_back(static_cast<std::int64_t>(packed.varint()));
}

} // namespace simdattn::test
