# find_package(strew [COMPONENTS runtime compiler]): without components, those that are installed. cmake/strew_install.cmake says what each
# component is.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
foreach(component runtime compiler)
  include(${CMAKE_CURRENT_LIST_DIR}/strew_${component}.cmake OPTIONAL RESULT_VARIABLE strew_${component}_file)
  set(strew_${component}_FOUND FALSE)
  if(strew_${component}_file)
    set(strew_${component}_FOUND TRUE)
  endif()
endforeach()
foreach(component ${strew_FIND_COMPONENTS})
  if(NOT component MATCHES "^(runtime|compiler)$")
    set(strew_FOUND FALSE)
    set(strew_NOT_FOUND_MESSAGE "component '${component}' is unknown, expected runtime or compiler")
  elseif(strew_FIND_REQUIRED_${component} AND NOT strew_${component}_FOUND)
    set(strew_FOUND FALSE)
    set(strew_NOT_FOUND_MESSAGE "component '${component}' is not installed: install it with cmake --install BUILD --component ${component}")
  endif()
endforeach()

# strew_add_library(NAME MANIFEST [DEPENDS FILE...]): compiles the kernels of a manifest whose "library" is NAME when the project is built
# (docs/libraries.md), and makes a target NAME that links them, with the header NAME.h and the runtime. DEPENDS: files that the manifest
# names. Needs the component compiler on the machine that builds.
function(strew_add_library name manifest)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "DEPENDS")
  find_program(STREW_PROGRAM strew HINTS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../../bin
               NO_DEFAULT_PATH)
  if(NOT STREW_PROGRAM)
    message(FATAL_ERROR "strew_add_library: the program strew is not installed beside this package: install component compiler")
  endif()
  get_filename_component(manifest ${manifest} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_custom_command(OUTPUT ${folder}/lib${name}.a ${folder}/${name}.h COMMAND ${STREW_PROGRAM} library ${manifest} -o ${folder}
                     DEPENDS ${manifest} ${arg_DEPENDS} ${STREW_PROGRAM} COMMENT "Compiling the kernels of ${name}" VERBATIM)
  add_custom_target(${name}_files DEPENDS ${folder}/lib${name}.a ${folder}/${name}.h)
  add_library(${name} STATIC IMPORTED GLOBAL)
  add_dependencies(${name} ${name}_files)
  file(MAKE_DIRECTORY ${folder})  # CMake wants the include folder of an imported target to exist
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${folder}/lib${name}.a INTERFACE_INCLUDE_DIRECTORIES ${folder}
                        INTERFACE_LINK_LIBRARIES strew::strew_rt_shared)
endfunction()
