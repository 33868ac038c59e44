#pragma once
// Assertions on a Status that show its message.

#include "simdattn/status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simdattn {

/// How GoogleTest shows a status.
inline void PrintTo(const Status& status, std::ostream* stream) {
  *stream << "code " << static_cast<int>(status.code()) << ": " << status.message();
}

namespace test {

MATCHER(IsOk, "is ok") { return arg.ok(); }

/// An error of that code whose message matches.
MATCHER_P2(IsError, code, message_matcher, "") {
  return arg.code() == code && ::testing::ExplainMatchResult(
                                   message_matcher, std::string(arg.message()), result_listener);
}

} // namespace test
} // namespace simdattn

#define ASSERT_OK(expression) ASSERT_THAT((expression), ::simdattn::test::IsOk())
#define EXPECT_OK(expression) EXPECT_THAT((expression), ::simdattn::test::IsOk())
