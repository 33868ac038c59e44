# GoogleTest from its sources, so that it is compiled as the tests are: by the same compiler, with the same
# sanitizer, for the same processor. Gives GTest::gtest, GTest::gtest_main, GTest::gmock, GTest::gmock_main
# and gtest_discover_tests().
set(SIMDATTN_GOOGLETEST_SOURCE /usr/src/googletest CACHE PATH "Sources of GoogleTest (Debian: googletest)")

function(simdattn_add_googletest)
  if(NOT EXISTS ${SIMDATTN_GOOGLETEST_SOURCE}/CMakeLists.txt)
    message(FATAL_ERROR "The tests need the sources of GoogleTest, and there are none in "
            "SIMDATTN_GOOGLETEST_SOURCE=${SIMDATTN_GOOGLETEST_SOURCE}: run tools/setup, or set "
            "SIMDATTN_BUILD_TESTS=OFF")
  endif()
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW) # its options yield to the variables here
  set(BUILD_SHARED_LIBS OFF)
  set(INSTALL_GTEST OFF)
  add_subdirectory(${SIMDATTN_GOOGLETEST_SOURCE} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
endfunction()

simdattn_add_googletest()
include(GoogleTest)
