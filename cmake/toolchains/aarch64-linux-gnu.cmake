# Cross-compiles for 64-bit Arm on Debian (g++-aarch64-linux-gnu) and runs the results under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64;-L;/usr/aarch64-linux-gnu")

set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)

# Header-only packages of the build machine serve every target, but Debian keeps the package files of these
# two in the folder of the build machine's architecture. HeaderOnly.cmake does the rest.
foreach(package IN ITEMS xsimd xtensor)
  file(GLOB package_dir /usr/lib/*-linux-gnu/cmake/${package})
  if(package_dir)
    set(${package}_DIR ${package_dir})
  endif()
endforeach()
