# SIMDATTN_SANITIZE=address,undefined or =thread instruments all that is compiled, the kernels included.
set(SIMDATTN_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, separated by commas")
if(SIMDATTN_SANITIZE)
  add_compile_options(-fsanitize=${SIMDATTN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SIMDATTN_SANITIZE})
endif()
