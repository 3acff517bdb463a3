# The build id (runtime/disk_cache/build_id.h).
#
# Included by CMakeLists.txt, it defines strew_build_id(SOURCE), which makes the header strew_build_id.h for SOURCE, anew whenever a file that decides
# about generated code changes. Run as a script (cmake -P), it writes that header: -DLIST=FILE (the names of the sources, one a line),
# -DSETTINGS=TEXT, -DROOT=FOLDER, -DOUTPUT=FILE, -DLLVM=FILE (the libLLVM that strew is linked with; the header has its soname and its linker's id),
# -DREADELF=FILE.
#
# The sources are all that plan, schedule, generate and describe kernels, and the libraries that they are made of: a file too many costs a cache
# that begins anew, a file too few would run stale code.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)  # a script has no policies of its own
  file(STRINGS ${LIST} files)
  set(text "${SETTINGS}\n")
  foreach(file ${files})
    file(SHA256 ${file} hash)
    file(RELATIVE_PATH name ${ROOT} ${file})
    string(APPEND text "${hash} ${name}\n")
  endforeach()
  string(SHA256 hash "${text}")
  string(SUBSTRING ${hash} 0 32 hash)
  set(llvm_file "")
  set(llvm_id "")
  if(LLVM)
    execute_process(COMMAND ${READELF} -dn ${LLVM} OUTPUT_VARIABLE notes ERROR_QUIET)
    if(notes MATCHES "soname: \\[([^]]+)\\]")
      set(llvm_file "${CMAKE_MATCH_1}")
    endif()
    if(notes MATCHES "Build ID: ([0-9a-f]+)")
      set(llvm_id "${CMAKE_MATCH_1}")
    endif()
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"#define STREW_BUILD_ID \"@hash@\"
#define STREW_LLVM_FILE \"@llvm_file@\"
#define STREW_LLVM_BUILD_ID \"@llvm_id@\"
")
  file(TOUCH ${OUTPUT})
  return()
endif()

function(strew_build_id source)
  set(patterns include/strew/*.h include/strew/*.def)
  foreach(room base compiler schedules backends runtime/call)
    list(APPEND patterns ${room}/*.cc ${room}/*.h)
  endforeach()
  list(TRANSFORM patterns PREPEND ${CMAKE_SOURCE_DIR}/)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${patterns})
  list(FILTER files EXCLUDE REGEX "/(compiler/import|compiler/pto|backends/pto|schedules/wisdom)/")
  list(SORT files)
  set(folder ${CMAKE_BINARY_DIR}/build_id)
  list(JOIN files "\n" sources)
  file(CONFIGURE OUTPUT ${folder}/sources.txt CONTENT "@sources@\n" @ONLY)
  set(settings "${STREW_GENERATOR_VERSION}, Halide ${STREW_HALIDE_VERSION}, ${CMAKE_SYSTEM_PROCESSOR}, ${CMAKE_BUILD_TYPE}")
  string(APPEND settings ", sanitize '${STREW_SANITIZE}', checked ${STREW_CHECKED}, ${CMAKE_CXX_COMPILER_ID}")
  add_custom_command(
    OUTPUT ${folder}/strew_build_id.h
    COMMAND ${CMAKE_COMMAND} -DLIST=${folder}/sources.txt "-DSETTINGS=${settings}" -DROOT=${CMAKE_SOURCE_DIR} -DOUTPUT=${folder}/strew_build_id.h
            -DLLVM=${STREW_LLVM_LIBRARY} -DREADELF=${CMAKE_READELF} -P ${CMAKE_SOURCE_DIR}/cmake/strew_build_id.cmake
    DEPENDS ${files} ${STREW_LLVM_LIBRARY} ${folder}/sources.txt ${CMAKE_SOURCE_DIR}/cmake/strew_build_id.cmake
    COMMENT "Making the build id" VERBATIM)
  add_custom_target(build_id DEPENDS ${folder}/strew_build_id.h)
  if(TARGET generated)  # the cross build of the differential test has none
    add_dependencies(generated build_id)
  endif()
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${folder}/strew_build_id.h INCLUDE_DIRECTORIES ${folder})
endfunction()
