# Makes the .tar.gz and the .deb files of BUILD_DIR in WORK_DIR, and compares what they hold with the install in PREFIX.
# EXPECTED are files that must be there, MADE is how many .deb files.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND ${CPACK} --config ${BUILD_DIR}/CPackConfig.cmake -B ${WORK_DIR} -G "TGZ;DEB"
                COMMAND_ERROR_IS_FATAL ANY)

file(GLOB_RECURSE installed RELATIVE ${PREFIX} ${PREFIX}/*)
foreach(file IN LISTS EXPECTED)
  if(NOT file IN_LIST installed)
    message(FATAL_ERROR "the install has no ${file}: ${installed}")
  endif()
endforeach()

# count_files(LIST COUNT KIND) checks how many there are.
function(count_files list count kind)
  list(LENGTH ${list} found)
  if(NOT found EQUAL count)
    message(FATAL_ERROR "${count} ${kind} expected, found ${found}: ${${list}}")
  endif()
endfunction()
file(GLOB archives ${WORK_DIR}/*.tar.gz)
file(GLOB packages ${WORK_DIR}/*.deb)
count_files(archives 1 .tar.gz)
count_files(packages ${MADE} .deb)

execute_process(COMMAND ${CMAKE_COMMAND} -E tar tf ${archives} OUTPUT_VARIABLE archive_list COMMAND_ERROR_IS_FATAL ANY)
foreach(package IN LISTS packages)
  execute_process(COMMAND dpkg-deb --contents ${package} OUTPUT_VARIABLE list COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND package_list "${list}")
endforeach()
foreach(file IN LISTS installed)
  foreach(list IN ITEMS archive_list package_list)
    string(FIND "${${list}}" "/${file}\n" position)
    if(position EQUAL -1)
      message(FATAL_ERROR "${file} is installed, but not in the ${list}:\n${${list}}")
    endif()
  endforeach()
endforeach()
