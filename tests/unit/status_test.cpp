// A status and its message.

#include "simdattn/status.hpp"

#include <gtest/gtest.h>
#include <string>
#include <type_traits>

namespace simdattn::test {
namespace {

TEST(StatusTest, is_ok_and_says_nothing_at_first) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::ok);
  EXPECT_STREQ(status.message(), "");
}

TEST(StatusTest, of_an_error_has_its_code_and_formatted_message) {
  const Status status =
      Status::error(StatusCode::workspace_too_small, "%s is %d; it must be %g", "x", 3, 0.5);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::workspace_too_small);
  EXPECT_STREQ(status.message(), "x is 3; it must be 0.5");
}

TEST(StatusTest, cuts_a_message_that_is_too_long) {
  const std::string longest(Status::message_capacity - 1, 'a');
  EXPECT_EQ(Status::error(StatusCode::invalid_argument, "%s", longest.c_str()).message(), longest);
  EXPECT_EQ(Status::error(StatusCode::invalid_argument, "%s", (longest + "b").c_str()).message(),
            longest);
}

TEST(StatusTest, holds_its_message_inline) {
  EXPECT_TRUE(std::is_trivially_copyable_v<Status>);
  Status copy;
  {
    const Status original = Status::error(StatusCode::out_of_memory, "gone");
    copy = original;
  }
  EXPECT_STREQ(copy.message(), "gone");
}

} // namespace
} // namespace simdattn::test
