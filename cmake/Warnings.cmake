# simdattn_warnings: what every target of this project compiles with. Linked PRIVATE, never installed.
add_library(simdattn_warnings INTERFACE)
target_compile_options(simdattn_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -Wundef -Wcast-qual)
# Sanitizers hide from GCC what is initialised: it then warns about its own <regex>.
if(SIMDATTN_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(simdattn_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
if(SIMDATTN_WARNINGS_AS_ERRORS)
  target_compile_options(simdattn_warnings INTERFACE -Werror)
endif()
