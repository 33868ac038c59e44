# simdattn_isolate_headers(TARGET FOLDER): when cross-compiling, lets an imported header-only target of the
# build machine reach /usr/include/FOLDER alone. Its own include directory is all of /usr/include, with the
# C library of the wrong processor in it.
function(simdattn_isolate_headers target folder)
  if(NOT CMAKE_CROSSCOMPILING)
    return()
  endif()
  get_target_property(include_dirs ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set(isolated ${PROJECT_BINARY_DIR}/header-only/${folder})
  if("${isolated}" IN_LIST include_dirs) # by another directory that uses the package
    return()
  endif()
  foreach(include_dir IN LISTS include_dirs)
    if(EXISTS ${include_dir}/${folder})
      file(MAKE_DIRECTORY ${isolated})
      file(CREATE_LINK ${include_dir}/${folder} ${isolated}/${folder} SYMBOLIC)
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${isolated}
                            INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${isolated})
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "${target}: no folder ${folder} in its include directories ${include_dirs}")
endfunction()
