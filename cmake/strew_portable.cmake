# strew_portable(target): the loops of backend portable (backends/portable/loops), which `target` compiles for the architecture's baseline, are
# optimised and, on x86-64, compiled once more for x86-64-v3 into the object library strew_portable_v3. Which of them run is decided at run time
# (backends/portable/choose_loops.cc).
function(strew_portable target)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/backends/portable/loops/*.cc)
  # No result depends on these options: nothing reads errno or the flags of exceptions.
  set(options -O3 -fno-math-errno -fno-trapping-math)
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
  set(STREW_PORTABLE_OBJECTS "" PARENT_SCOPE)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  add_library(strew_portable_v3 OBJECT ${sources})
  # g++ 12 makes fused multiply-adds of complex products whatever -ffp-contract says.
  target_compile_options(strew_portable_v3 PRIVATE -march=x86-64-v3 -mno-fma)
  target_compile_definitions(strew_portable_v3 PRIVATE STREW_PORTABLE_LEVEL=v3)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/backends/portable/choose_loops.cc PROPERTIES COMPILE_DEFINITIONS STREW_PORTABLE_HAS_V3)
  set(STREW_PORTABLE_OBJECTS $<TARGET_OBJECTS:strew_portable_v3> PARENT_SCOPE)
endfunction()
