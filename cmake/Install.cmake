# What `cmake --install` gives: headers, the library, find_package(simdattn), simdattn.pc and the licence, which are
# the component `library`. tools/ adds the command, the component `tools`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)

set(simdattn_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/simdattn)
set(simdattn_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS simdattn EXPORT simdattn-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/simdattn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What the static library needs beside itself, from a linker that knows C alone.
set(simdattn_private_libs ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM simdattn_private_libs ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
list(TRANSFORM simdattn_private_libs PREPEND "-l")
if(simdattn_openmp)
  list(PREPEND simdattn_private_libs ${OpenMP_CXX_FLAGS})
endif()

# find_package(simdattn)
install(EXPORT simdattn-targets NAMESPACE simdattn:: DESTINATION ${simdattn_cmake_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/simdattn-config.cmake.in simdattn-config.cmake
                              INSTALL_DESTINATION ${simdattn_cmake_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/simdattn-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/simdattn-config.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/simdattn-config-version.cmake DESTINATION ${simdattn_cmake_dir})

# simdattn.pc: its prefix is where the file lies, so that `cmake --install --prefix` needs no new configuration.
file(RELATIVE_PATH simdattn_pc_to_prefix ${CMAKE_INSTALL_PREFIX}/${simdattn_pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
list(JOIN simdattn_private_libs " " simdattn_private_libs)
configure_file(${CMAKE_CURRENT_LIST_DIR}/simdattn.pc.in simdattn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/simdattn.pc DESTINATION ${simdattn_pkgconfig_dir})
