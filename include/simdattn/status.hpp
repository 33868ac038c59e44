#pragma once
/// @file
/// The result of every call: a code, and a message that says what to do about it.

#include "simdattn/export.hpp"

#include <cstddef>
#include <cstdint>

namespace simdattn {

/// What went wrong, for programs. Status::message() says it for people.
enum class StatusCode : std::uint8_t {
  ok = 0,
  invalid_argument,           ///< a tensor, an option or a context member is not what it must be
  unsupported_implementation, ///< the implementation asked for is unknown, or this CPU lacks its
                              ///< features
  workspace_too_small,        ///< Context::workspace_bytes is below what workspace_size() says
  out_of_memory,              ///< no workspace was given and allocating one failed
};

/// A code with its message held inline: making, copying and returning one allocates nothing.
class [[nodiscard]] Status {
public:
  /// The longest message, its terminating zero included, in bytes. A longer one is cut.
  static constexpr std::size_t message_capacity = 240;

  /// Success, with an empty message.
  Status() noexcept { message_[0] = '\0'; }
  /// An error with a printf-formatted message.
  SIMDATTN_API static Status error(StatusCode code, const char* format, ...) noexcept
#if defined(__GNUC__) || defined(__clang__)
      __attribute__((format(printf, 2, 3)))
#endif
      ;

  /// Whether the call did what it was asked.
  bool ok() const noexcept { return code_ == StatusCode::ok; }
  /// What went wrong; StatusCode::ok when nothing did.
  StatusCode code() const noexcept { return code_; }
  /// Names the argument, its value and what it must be; empty on success. Lives as long as the
  /// Status.
  const char* message() const noexcept { return message_; }

private:
  StatusCode code_ = StatusCode::ok;
  // A call makes many of these: clearing all of it was half of what a small call takes.
  char message_[message_capacity];
};

} // namespace simdattn
