# The only place with -m flags. simdattn_isa_libraries(RESULT) makes one object library for each
# instruction set of the target processor, from arch/<isa>/kernels.cpp, and appends their names to RESULT.
# arch/README.md has the rule that these units follow.

set(simdattn_isa_avx512_flags -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mavx2
    -mprefer-vector-width=512)
set(simdattn_isa_avx2_flags -mavx2 -mfma)
# A product and a sum stay two roundings on processors with FMA too, so that every path gives the same bits.
set(simdattn_isa_scalar_flags -ffp-contract=off)
set(simdattn_isa_neon_flags "")
set(simdattn_isa_common_flags -fno-exceptions -fno-rtti -fno-lto -fno-math-errno -fno-trapping-math
    -fvisibility-inlines-hidden)
# A loop of few instructions that straddles two lines of the instruction cache takes up to 1.25 times as long.
list(APPEND simdattn_isa_common_flags -falign-functions=64 -falign-loops=32)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The kernels are vectors as they are written; GCC 12's vectoriser was seen to read past the end of V.
  list(APPEND simdattn_isa_common_flags -fno-tree-vectorize)
  # Nor are loops that clear a few vectors to become calls of memset.
  list(APPEND simdattn_isa_common_flags -fno-tree-loop-distribute-patterns)
  # GCC 12 made a copy of the loop over keys for rows one element apart, which no call has, and spilled in the other.
  list(APPEND simdattn_isa_common_flags -fno-version-loops-for-strides)
  # GCC 12 warns falsely about the undefined vectors inside its own AVX-512 intrinsics.
  list(APPEND simdattn_isa_avx512_flags -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

# All of UBSan, and ASan's guards around local variables, made GCC 12 take a quarter of an hour and gigabytes for a unit.
set(simdattn_isa_sanitizer_flags "")
if(SIMDATTN_SANITIZE MATCHES undefined)
  list(APPEND simdattn_isa_sanitizer_flags -O1 -fno-sanitize=undefined
       -fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,float-cast-overflow)
endif()
if(SIMDATTN_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND simdattn_isa_sanitizer_flags "SHELL:--param asan-stack=0")
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(simdattn_isas avx512 avx2 scalar)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(simdattn_isas neon scalar)
else()
  set(simdattn_isas scalar)
endif()

function(simdattn_add_isa_objects target isa source)
  add_library(${target} OBJECT ${source})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE xsimd simdattn_warnings)
  target_compile_features(${target} PRIVATE cxx_std_20)
  # -O2 at least in every build type, so that everything inline is inlined, and no link-time optimisation,
  # which would mix the instruction sets: see arch/README.md.
  target_compile_options(${target} PRIVATE ${simdattn_isa_${isa}_flags} ${simdattn_isa_common_flags}
                         $<$<NOT:$<CONFIG:Release>>:-O2> ${simdattn_isa_sanitizer_flags})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                        INTERPROCEDURAL_OPTIMIZATION OFF)
endfunction()

function(simdattn_isa_libraries result)
  foreach(isa IN LISTS simdattn_isas)
    simdattn_add_isa_objects(simdattn_${isa} ${isa} ${PROJECT_SOURCE_DIR}/arch/${isa}/kernels.cpp)
    list(APPEND libraries simdattn_${isa})
  endforeach()
  set(${result} ${libraries} PARENT_SCOPE)
endfunction()
