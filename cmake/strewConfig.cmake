# find_package(strew [COMPONENTS runtime compiler]): without components, those whose libraries are installed. cmake/strew_install.cmake says what
# each component is.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
set(strew_runtime_library libstrew_rt.so)
set(strew_compiler_library libstrew.so)
foreach(component runtime compiler)
  set(strew_${component}_FOUND FALSE)
  file(GLOB found ${CMAKE_CURRENT_LIST_DIR}/../../${strew_${component}_library}.*)
  if(found)
    include(${CMAKE_CURRENT_LIST_DIR}/strew_${component}.cmake)
    set(strew_${component}_FOUND TRUE)
  endif()
endforeach()
foreach(component ${strew_FIND_COMPONENTS})
  if(NOT component MATCHES "^(runtime|compiler)$")
    set(strew_FOUND FALSE)
    set(strew_NOT_FOUND_MESSAGE "component '${component}' is unknown, expected runtime or compiler")
  elseif(strew_FIND_REQUIRED_${component} AND NOT strew_${component}_FOUND)
    set(strew_FOUND FALSE)
    set(strew_NOT_FOUND_MESSAGE "component '${component}' is not installed: install it with cmake --install BUILD --component ${component}, or its package")
  endif()
endforeach()

# strew_add_kernel_library(NAME MANIFEST [SHARED] [REGISTER] [TARGETS CPU...] [DEPENDS FILE...]): compiles the kernels of a manifest whose "library" is NAME when
# the project is built (docs/libraries.md), again whenever the manifest or a model file that it names changes, and makes a target NAME that links
# them, with the header NAME.h and the runtime. SHARED: a shared library with the kernels instead of an archive. REGISTER: programs that link NAME have the compiler, too, and
# their Runtime::process() answers requests with these kernels from the start. TARGETS: CPUs to compile for,
# instead of the manifest's. DEPENDS: more files after whose change the kernels are made again.
#
# The program strew runs on the machine that builds, and compiles for the architecture that the project is built for. It is looked for beside this
# package and in the PATH; STREW_PROGRAM names another one, as a project that is built for another machine may need.
function(strew_add_kernel_library name manifest)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SHARED;REGISTER" "" "TARGETS;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "strew_add_kernel_library: unknown argument '${arg_UNPARSED_ARGUMENTS}', expected SHARED, REGISTER, TARGETS or DEPENDS")
  endif()
  set(beside ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../../bin)
  if(CMAKE_CROSSCOMPILING)
    set(beside "")  # made for the other machine
  endif()
  find_program(STREW_PROGRAM strew HINTS ${beside} NO_CMAKE_FIND_ROOT_PATH DOC "The program strew of this machine")
  if(NOT STREW_PROGRAM)
    message(FATAL_ERROR "strew_add_kernel_library: there is no program strew beside this package or in the PATH: install component compiler "
                        "for this machine, or set STREW_PROGRAM")
  endif()
  string(TOLOWER ${CMAKE_SYSTEM_PROCESSOR} arch)
  if(arch MATCHES "^(amd64|x86_64)$")
    set(arch x86_64)
  elseif(arch MATCHES "^(arm64|aarch64)$")
    set(arch aarch64)
  endif()
  get_filename_component(manifest ${manifest} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(archive ${folder}/lib${name}.a)
  set(targets "")
  if(arg_TARGETS)
    list(JOIN arg_TARGETS "," targets)
    set(targets --target ${targets})
  endif()
  add_custom_command(
    OUTPUT ${archive} ${folder}/${name}.h
    COMMAND ${STREW_PROGRAM} library ${manifest} -o ${folder} --arch ${arch} ${targets} --depfile ${folder}.d
    DEPENDS ${manifest} ${arg_DEPENDS} ${STREW_PROGRAM} DEPFILE ${folder}.d COMMENT "Compiling the kernels of ${name}" VERBATIM)
  add_custom_target(${name}_files DEPENDS ${archive} ${folder}/${name}.h)
  file(MAKE_DIRECTORY ${folder})  # CMake wants the include folder of an imported target to exist
  add_library(${name}_archive STATIC IMPORTED GLOBAL)
  add_dependencies(${name}_archive ${name}_files)
  set_target_properties(${name}_archive PROPERTIES IMPORTED_LOCATION ${archive})
  set(scope INTERFACE)
  if(arg_SHARED)
    set(scope PUBLIC)  # the library's functions for TVM-FFI call the runtime, so that the library can be loaded by itself
    file(WRITE ${folder}_empty.c "/* The library ${name} has its kernels from an archive. */\ntypedef int strew_empty;\n")
    add_library(${name} SHARED ${folder}_empty.c)
    add_dependencies(${name} ${name}_files)
    target_link_libraries(${name} PRIVATE -Wl,--whole-archive ${name}_archive -Wl,--no-whole-archive)
  else()
    add_library(${name} INTERFACE)
    add_dependencies(${name} ${name}_files)
    target_link_libraries(${name} INTERFACE ${name}_archive)
  endif()
  target_include_directories(${name} INTERFACE ${folder})
  target_link_libraries(${name} ${scope} m)
  if(arg_REGISTER)
    file(WRITE ${folder}_register.cc "// Registers the kernels of ${name} before main().\n#include <strew/runtime.h>\n\n#include \"${name}.h\"\n\n"
         "static const bool registered = strew::Runtime::process().register_library(*${name}()).ok();\n")
    target_sources(${name} INTERFACE ${folder}_register.cc)
    target_link_libraries(${name} ${scope} strew::strew)
  else()
    target_link_libraries(${name} ${scope} strew::strew_rt_shared)
  endif()
endfunction()
