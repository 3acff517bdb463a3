# `cmake --install build --prefix DIR`: libraries, program, public headers, documents, and what finds them: a CMake package and pkg-config
# files. A user's CMake: find_package(strew COMPONENTS runtime compiler), then link
#   strew::strew                                  component compiler: the compiler and the runtime that asks it for kernels
#   strew::strew_rt_shared, strew::strew_rt_static  component runtime: runs objects that `strew compile` made
# `cmake --install build --component runtime` installs the runtime alone. Nothing that is installed names a folder of the machine that built
# it: tests/install/install_test.py reads every file for that, and builds a project of its own with either package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/strew)
set(components runtime)
if(TARGET strew)
  list(APPEND components compiler)
endif()

# The public headers are all of include/strew, and they include nothing but each other and the standard library (tools/lint/rooms.py). The
# runtime's users need strew_rt.h, and those that compiled_kernel.h includes.
file(GLOB public_headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/include/strew ${CMAKE_SOURCE_DIR}/include/strew/*)
set(runtime_headers abi.h call_options.h compiled_kernel.h dtype.h executor.h export.h library.h library.hpp log.h options.h scalar.h status.h strew_rt.h tensor_view.h version.h)
foreach(header ${public_headers})
  set(component compiler)
  if(header IN_LIST runtime_headers)
    set(component runtime)
  endif()
  if(component IN_LIST components)
    install(FILES ${CMAKE_SOURCE_DIR}/include/strew/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strew COMPONENT ${component})
  endif()
endforeach()

# strew_install_library(target component): for a library that users link.
function(strew_install_library target component)
  install(TARGETS ${target} EXPORT strew_${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} NAMELINK_COMPONENT ${component}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
endfunction()

strew_install_library(strew_rt_shared runtime)
strew_install_library(strew_rt_static runtime)
if(TARGET strew)
  strew_install_library(strew compiler)
endif()
foreach(target strew_llvm strew_halide strew_pto strew_import_mlir strew_cli)
  if(TARGET ${target})
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  endif()
endforeach()

file(GLOB documents ${CMAKE_SOURCE_DIR}/docs/*.md)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(FILES ${CMAKE_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT compiler)
install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT compiler)

foreach(component ${components})
  install(EXPORT strew_${component} NAMESPACE strew:: FILE strew_${component}.cmake DESTINATION ${package_folder} COMPONENT ${component})
endforeach()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/strewConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/strewConfig.cmake ${CMAKE_BINARY_DIR}/strewConfigVersion.cmake DESTINATION ${package_folder} COMPONENT runtime)

# pkg-config finds the prefix from the place of its own file.
file(RELATIVE_PATH prefix_from_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(library strew strew_rt)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${library}.pc.in ${CMAKE_BINARY_DIR}/${library}.pc @ONLY)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/strew_rt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
install(FILES ${CMAKE_BINARY_DIR}/strew.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT compiler)
