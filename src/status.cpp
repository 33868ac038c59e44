#include "simdattn/status.hpp"

#include <cstdarg>
#include <cstdio>

namespace simdattn {

Status Status::error(StatusCode code, const char* format, ...) noexcept {
  Status status;
  status.code_ = code;
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(status.message_, sizeof status.message_, format, arguments);
  va_end(arguments);
  return status;
}

} // namespace simdattn
