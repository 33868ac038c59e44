#include "simdattn/version.hpp"

#define SIMDATTN_TEXT_OF(x) #x
#define SIMDATTN_TEXT(x) SIMDATTN_TEXT_OF(x)

namespace simdattn {

const char* version() noexcept {
  return SIMDATTN_TEXT(SIMDATTN_VERSION_MAJOR) "." SIMDATTN_TEXT(
      SIMDATTN_VERSION_MINOR) "." SIMDATTN_TEXT(SIMDATTN_VERSION_PATCH);
}

} // namespace simdattn
