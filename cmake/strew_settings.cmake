# Compiler and linker settings that hold for every target, and helpers: strew_glob, strew_exports_api, strew_protobuf, strew_flatbuffers, strew_needs_modules,
# strew_looks_beside, strew_converts_openly, strew_lists_all_values, strew_unites.
include(GNUInstallDirs)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# RUNPATH names folders relative to the file ($ORIGIN), and the same ones in the build tree and installed: CMake then neither rewrites it nor pads
# it for a later rewrite (padding consists of empty entries, which the loader reads as the current folder). Programs find the libraries in
# $ORIGIN/../lib, as the build tree has them, or in the folder that the installation chose. One exception: strew_looks_beside. tools/lint/elf.py
# checks every file.
file(RELATIVE_PATH libraries_from_programs ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib" "$ORIGIN/${libraries_from_programs}")
list(REMOVE_DUPLICATES CMAKE_INSTALL_RPATH)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")

# Every library and program: position independent, every address bound at load and then read-only (full RELRO), no executable stack, no
# relocation of code. `strew --help` takes no longer for it: libstrew and the program bind some 400 functions.
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack,-z,text,--enable-new-dtags)

# Shared libraries export what is marked STREW_API (include/strew/export.h) and nothing else. So calls within a library are direct and may be
# inlined, as a call per token wants.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
add_compile_options(-fno-semantic-interposition)

# One rounding per operation, whoever compiles it (semantics.md section 4).
add_compile_options(-ffp-contract=off -Wall -Wextra -Wno-missing-field-initializers)
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
include_directories(SYSTEM ${CMAKE_BINARY_DIR}/generated)  # not ours to warn about

if(STREW_SANITIZE)
  add_compile_options(-fsanitize=${STREW_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${STREW_SANITIZE})
  if(STREW_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    # The run time's copies of stack frames confuse base/own_stack, which moves the stack pointer itself.
    add_compile_options(-fsanitize-address-use-after-return=never)
  endif()
  if(STREW_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=all -fno-sanitize=vptr)
  endif()
endif()

# strew_calls_kernels(FILE...): sources that call generated code by pointer. Clang's UBSan reads the type that stands before a function it calls;
# generated code has none, and before the first function of an object is no memory.
function(strew_calls_kernels)
  if(STREW_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -fno-sanitize=function)
  endif()
endfunction()

# strew_converts_openly(target): in its sources, a number that is narrowed, cut to an integer or given another sign without a cast is an error of
# the build: a count of bytes that lost its upper half is a small number that passes the checks behind it. Only with g++, so that every version of
# clang, whose warnings of these names say more, builds strew.
function(strew_converts_openly target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Werror=conversion -Werror=float-conversion -Werror=sign-conversion)
  endif()
endfunction()

# strew_lists_all_values(target...): a switch over an enum names each of its values, and has no `default:` that stands for some; and a function whose
# branches treat one operator each returns from one of them. So the compiler says where a new operator, dtype or policy has to be added.
# base/partial_switch.h has the exceptions. Targets that do not exist are passed over.
function(strew_lists_all_values)
  foreach(target ${ARGN})
    if(TARGET ${target})
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Werror=switch-enum;-Werror=return-type>")
    endif()
  endforeach()
endfunction()

# strew_unites(target files): compiles so many sources of the target as one, which reads the headers that they share once. Sources with options or
# definitions of their own stay alone. The sources of a target share one namespace, so their anonymous namespaces do, too: two files cannot give one
# name to two things. They include what they use all the same: clang-tidy compiles each of them alone.
function(strew_unites target files)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${STREW_UNITY} UNITY_BUILD_BATCH_SIZE ${files})
  if(STREW_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # g++ takes a source that is included for a header, in which a class with a member from an anonymous namespace is a mistake.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

find_program(STREW_CCACHE ccache)
if(STREW_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${STREW_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STREW_CCACHE})
endif()
find_program(STREW_MOLD mold)
if(STREW_MOLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

# strew_exports_api(library c_names): hides what the C++ standard library's templates would export, and binds calls of the library's own functions
# to them. c_names: the pattern of the functions of its C interface.
function(strew_exports_api library c_names)
  set(script ${CMAKE_BINARY_DIR}/${library}.map)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/exports.map.in ${script} @ONLY)
  target_link_options(${library} PRIVATE -Wl,-Bsymbolic-functions -Wl,--version-script=${script})
  set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()

# strew_precompile(target header): compiles the header once for all sources of the target, which takes a third off the time to build. Sources include
# what they use all the same: clang-tidy compiles them without it. ccache needs the option, and CCACHE_SLOPPINESS, which ./dev sets.
function(strew_precompile target header)
  target_precompile_headers(${target} PRIVATE ${header})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    # g++ 12 takes the standard library's headers for ours when they come precompiled, and then warns of std::string's own code.
    target_compile_options(${target} PRIVATE -fpch-preprocess -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                           -Wno-stringop-overread)
  endif()
endfunction()

# strew_glob(OUT folder...): every .cc below the folders.
function(strew_glob out)
  set(files "")
  foreach(folder ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
    list(APPEND files ${found})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# strew_protobuf(target folder): compile folder/*.proto (lite runtime) into target.
# The target `generated` makes the headers alone (clang-tidy needs no more).
add_custom_target(generated)
function(strew_protobuf target folder)
  file(GLOB protos CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.proto)
  foreach(proto ${protos})
    get_filename_component(stem ${proto} NAME_WE)
    set(base ${CMAKE_BINARY_DIR}/generated/${folder}/${stem}.pb)
    add_custom_command(
      OUTPUT ${base}.cc ${base}.h
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/generated
      COMMAND protobuf::protoc --cpp_out=${CMAKE_BINARY_DIR}/generated -I ${CMAKE_SOURCE_DIR} ${proto}
      DEPENDS ${proto})
    add_custom_target(generated_${stem} DEPENDS ${base}.h)
    add_dependencies(generated generated_${stem})
    set_source_files_properties(${base}.cc PROPERTIES COMPILE_OPTIONS "-w")
    target_sources(${target} PRIVATE ${base}.cc)
    target_link_libraries(${target} PRIVATE protobuf::libprotobuf-lite)
  endforeach()
endfunction()

# strew_flatbuffers(target folder): make folder/*_generated.h of folder/*.fbs before target's sources. Headers only, nothing is linked.
function(strew_flatbuffers target folder)
  file(GLOB schemas CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.fbs)
  foreach(schema ${schemas})
    get_filename_component(stem ${schema} NAME_WE)
    set(header ${CMAKE_BINARY_DIR}/generated/${folder}/${stem}_generated.h)
    add_custom_command(
      OUTPUT ${header}
      COMMAND ${STREW_FLATC} --cpp --scoped-enums -o ${CMAKE_BINARY_DIR}/generated/${folder} ${schema}
      DEPENDS ${schema})
    add_custom_target(generated_${stem} DEPENDS ${header})
    add_dependencies(generated generated_${stem})
    target_sources(${target} PRIVATE ${header})
  endforeach()
  get_target_property(includes flatbuffers::flatbuffers INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(${target} SYSTEM PRIVATE ${includes})
endfunction()

# strew_needs_modules(target [module...]): build the libraries that target opens at run time (backends/modules) with it; by default all.
function(strew_needs_modules target)
  set(modules ${ARGN})
  if(NOT modules)
    set(modules strew_llvm strew_halide strew_pto strew_import_mlir)
  endif()
  foreach(module ${modules})
    if(TARGET ${module})
      add_dependencies(${target} ${module})
    endif()
  endforeach()
endfunction()

# strew_looks_beside(module library...): the module's RUNPATH also names the folders of these libraries, if the loader would not look there by
# itself. Debian's libMLIR lies in such a folder, which only the system's owner writes (tools/lint/elf.py checks that).
function(strew_looks_beside module)
  foreach(library ${ARGN})
    get_filename_component(file ${library} REALPATH)
    get_filename_component(folder ${file} DIRECTORY)
    if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      set_property(TARGET ${module} APPEND PROPERTY INSTALL_RPATH ${folder})
    endif()
  endforeach()
  get_target_property(folders ${module} INSTALL_RPATH)
  list(REMOVE_DUPLICATES folders)
  set_target_properties(${module} PROPERTIES INSTALL_RPATH "${folders}")
endfunction()
