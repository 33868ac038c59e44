# Sets simdattn_openmp: whether the library runs in parallel with OpenMP. It is serial without.
set(simdattn_openmp OFF)
if(SIMDATTN_OPENMP)
  find_package(OpenMP COMPONENTS CXX)
  if(OpenMP_CXX_FOUND)
    set(simdattn_openmp ON)
    # Seen by a project that has this one as a subdirectory too: the static library links to it.
    set_target_properties(OpenMP::OpenMP_CXX PROPERTIES IMPORTED_GLOBAL TRUE)
  else()
    message(WARNING "OpenMP was not found: the library will be serial. SIMDATTN_OPENMP=OFF says that is meant.")
  endif()
endif()
