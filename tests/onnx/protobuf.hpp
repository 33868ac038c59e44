#pragma once
// The wire format of Protocol Buffers, as much of it as ONNX files need. Read by hand, so that the
// tests that run for another processor need no library built for it.

#include <cstdint>
#include <string_view>
#include <vector>

namespace simdattn::test {

/// One field of a message, undecoded.
struct ProtobufField {
  std::uint32_t number = 0;
  std::uint64_t integer = 0; ///< what a varint, fixed32 or fixed64 field holds
  std::string_view bytes; ///< what a length-delimited field holds: string, message, packed numbers
};

/// The fields of a message in the order in which they lie; they refer to its bytes. Throws
/// std::runtime_error, which says where, when that is no message.
std::vector<ProtobufField> protobuf_fields(std::string_view message);

/// Adds what a field of `repeated int64` holds, packed or not.
void append_integers(const ProtobufField& field, std::vector<std::int64_t>& integers);

} // namespace simdattn::test
