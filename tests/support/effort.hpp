#pragma once
// How much work a test may do.

#include <cstdint>
#include <cstdlib>

namespace simdattn::test {

/// Whether the environment says, by SIMDATTN_TEST_EMULATED=1, that the tests run on an emulated
/// CPU, which is some 30 times slower.
inline bool emulated() noexcept {
  const char* value = std::getenv("SIMDATTN_TEST_EMULATED");
  return value != nullptr && value[0] == '1';
}

/// `native`, or `under_emulation`.
inline std::int64_t effort(std::int64_t native, std::int64_t under_emulation) noexcept {
  return emulated() ? under_emulation : native;
}

} // namespace simdattn::test
