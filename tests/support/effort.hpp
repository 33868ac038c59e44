#pragma once
// How much work a test may do.

#include <cstdint>
#include <cstdlib>

namespace simdattn::test {

/// Whether the environment says, by SIMDATTN_TEST_SLOW=1, that everything takes long: an emulated
/// CPU is some 30 times slower, sanitizers are 5 times.
inline bool slow() noexcept {
  const char* value = std::getenv("SIMDATTN_TEST_SLOW");
  return value != nullptr && value[0] == '1';
}

/// `usual`, or `when_slow`.
inline std::int64_t effort(std::int64_t usual, std::int64_t when_slow) noexcept {
  return slow() ? when_slow : usual;
}

} // namespace simdattn::test
