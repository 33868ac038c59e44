# The libraries of the benchmarks that the command and the tests use too: include() this file, then link.
#   simdattn_peak                what the machine can do at most, and how close a call gets
#   simdattn_baseline_reference  the naive formula
#   simdattn_baseline_onednn     oneDNN's attention; only where oneDNN is installed
include_guard(GLOBAL)
add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/peak ${PROJECT_BINARY_DIR}/bench/peak EXCLUDE_FROM_ALL)
add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/baselines ${PROJECT_BINARY_DIR}/bench/baselines EXCLUDE_FROM_ALL)
