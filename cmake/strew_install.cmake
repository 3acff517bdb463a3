# `cmake --install build --prefix DIR`: everything, in four components, which `cpack` makes packages of (cmake/strew_package.cmake):
#   runtime   libstrew_rt, which runs kernels that were compiled before
#   compiler  libstrew with the modules that it opens, the execution provider for ONNX Runtime, the program strew, its manual page, completion for
#             shells, and the documents
#   halide    the module with the Halide backend, and libHalide, which is twenty times as large as all of the rest
#   dev       public headers, the static runtime, and what finds them: a CMake package and pkg-config files
# A user's CMake: find_package(strew COMPONENTS runtime compiler), then link
#   strew::strew                                  the compiler and the runtime that asks it for kernels
#   strew::strew_rt_shared, strew::strew_rt_static  the runtime alone
# Modules, and the libraries of others that are installed with them, lie in a folder of their own, whose name has the version, so that two
# versions live side by side and nobody else's linker finds them. Nothing that is installed names a folder of the build: tests/install/install_test.py
# reads every file for that, and builds a project of its own with either library. The RUNPATH of a module may name LLVM's folder
# (strew_looks_beside).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/strew)
set(libraries runtime)
if(TARGET strew)
  list(APPEND libraries compiler)
endif()

# The public headers are all of include/strew, and they include nothing but each other and the standard library (tools/lint/rooms.py). The
# runtime's users need strew_rt.h, and those that compiled_kernel.h and library.hpp include.
file(GLOB public_headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/include/strew ${CMAKE_SOURCE_DIR}/include/strew/*)
set(runtime_headers abi.h bad_index.h call_options.h compile_mode.h compiled_kernel.h csr.h dtype.h dtypes.def executor.h export.h library.h library.hpp log.h machine_costs.h options.h scalar.h segments.h status.h strew_rt.h tensor_view.h version.h)
foreach(header ${public_headers})
  if(TARGET strew OR header IN_LIST runtime_headers)
    install(FILES ${CMAKE_SOURCE_DIR}/include/strew/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strew COMPONENT dev)
  endif()
endforeach()

# strew_install_library(target component link): for a library that users link; `link`: the component of libNAME.so. That of libstrew comes with
# the library, because component dev also serves those that have the runtime alone.
function(strew_install_library target component link)
  install(TARGETS ${target} EXPORT strew_${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} NAMELINK_COMPONENT ${link}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
endfunction()

strew_install_library(strew_rt_shared runtime dev)
strew_install_library(strew_rt_static runtime dev)
if(TARGET strew)
  strew_install_library(strew compiler compiler)
endif()
foreach(module strew_llvm strew_halide strew_pto strew_import_mlir)
  if(TARGET ${module})
    set(component compiler)
    if(module STREQUAL strew_halide)
      set(component halide)
    endif()
    install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${STREW_MODULE_FOLDER} COMPONENT ${component})
  endif()
endforeach()
# A host with ONNX Runtime registers it by its path: it lies in the folder of this version, as what nobody links does.
if(TARGET strew_ep AND NOT STREW_WHEEL)
  install(TARGETS strew_ep LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${STREW_MODULE_FOLDER} COMPONENT compiler)
endif()
if(TARGET strew_cli)
  install(TARGETS strew_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
endif()

install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
if(TARGET strew_cli)
  file(GLOB documents ${CMAKE_SOURCE_DIR}/docs/*.md ${CMAKE_SOURCE_DIR}/docs/*.svg ${CMAKE_SOURCE_DIR}/docs/*.png)
  install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/THIRD_PARTY.txt DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT compiler)
  install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT compiler)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/tune/wisdom DESTINATION ${CMAKE_INSTALL_DATADIR}/strew COMPONENT compiler)
  # What the program says of itself.
  set(manual ${CMAKE_BINARY_DIR}/manual)
  file(MAKE_DIRECTORY ${manual})
  add_custom_command(
    OUTPUT ${manual}/strew.1.gz ${manual}/strew ${manual}/_strew
    COMMAND sh -c "$<TARGET_FILE:strew_cli> manual | gzip -9n >strew.1.gz"
    COMMAND sh -c "$<TARGET_FILE:strew_cli> completion bash >strew"
    COMMAND sh -c "$<TARGET_FILE:strew_cli> completion zsh >_strew"
    WORKING_DIRECTORY ${manual} DEPENDS strew_cli VERBATIM)
  add_custom_target(strew_manual ALL DEPENDS ${manual}/strew.1.gz)
  install(FILES ${manual}/strew.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT compiler)
  install(FILES ${manual}/strew DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT compiler)
  install(FILES ${manual}/_strew DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT compiler)
endif()

foreach(library ${libraries})
  install(EXPORT strew_${library} NAMESPACE strew:: FILE strew_${library}.cmake DESTINATION ${package_folder} COMPONENT dev)
endforeach()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/strewConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/strewConfig.cmake ${CMAKE_BINARY_DIR}/strewConfigVersion.cmake DESTINATION ${package_folder} COMPONENT dev)

# pkg-config finds the prefix from the place of its own file.
file(RELATIVE_PATH prefix_from_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(pkg_config_files strew_rt)
if(TARGET strew)
  list(APPEND pkg_config_files strew)
endif()
foreach(name ${pkg_config_files})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  set(component dev)
  if(name STREQUAL strew)
    set(component compiler)  # as libstrew.so
  endif()
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endforeach()
include(strew_package)
