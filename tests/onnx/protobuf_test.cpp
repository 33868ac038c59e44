// The reader of Protocol Buffers that the ONNX tests use.

#include "protobuf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string_view>

namespace simdattn::test {
namespace {

using namespace std::string_view_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ProtobufFields, hold_numbers_of_every_wire_type) {
  const auto fields = protobuf_fields("\x08\xac\x02"                         // 1: varint 300
                                      "\x15\x00\x00\x80\x3f"                 // 2: fixed32
                                      "\x19\x01\x00\x00\x00\x00\x00\x00\x80" // 3: fixed64
                                      "\xa2\x01\x02Hi"sv);                   // 20: two bytes
  ASSERT_EQ(fields.size(), 4u);
  EXPECT_EQ(fields[0].number, 1u);
  EXPECT_EQ(fields[0].integer, 300u);
  EXPECT_EQ(fields[1].number, 2u);
  EXPECT_EQ(fields[1].integer, 0x3f800000u);
  EXPECT_EQ(fields[2].number, 3u);
  EXPECT_EQ(fields[2].integer, 0x8000000000000001u);
  EXPECT_EQ(fields[3].number, 20u);
  EXPECT_EQ(fields[3].bytes, "Hi");
}

TEST(ProtobufFields, hold_repeated_integers_packed_and_not) {
  std::vector<std::int64_t> integers;
  for (const ProtobufField& field :
       protobuf_fields("\x08\x05\x0a\x03\x96\x01\x07"
                       "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv))
    append_integers(field, integers);
  EXPECT_THAT(integers, ElementsAre(5, 150, 7, -1));
}

TEST(ProtobufFields, of_no_message_are_an_error) {
  EXPECT_THAT([] { protobuf_fields("\x0a\x05Hi"sv); },
              ThrowsMessage<std::runtime_error>(HasSubstr("ends in the middle of a field")));
  EXPECT_THAT([] { protobuf_fields("\x08\xff"sv); },
              ThrowsMessage<std::runtime_error>(HasSubstr("ends in the middle of a field")));
  EXPECT_THAT([] { protobuf_fields("\x0b"sv); },
              ThrowsMessage<std::runtime_error>(HasSubstr("unknown wire type")));
  EXPECT_THAT([] { protobuf_fields("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv); },
              ThrowsMessage<std::runtime_error>(HasSubstr("more than ten bytes")));
}

} // namespace
} // namespace simdattn::test
