# `cmake --install build --prefix DIR`: the libraries, the program, and the public headers under include/strew, as they are included
# ("runtime/kernel.h"). A user's CMake: find_package(strew), then link strew::strew.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/public_headers.txt public_headers REGEX "^[a-z]")
foreach(header ${public_headers})
  get_filename_component(folder ${header} DIRECTORY)
  string(REGEX REPLACE "^include/strew/?" "" folder "${folder}")
  install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strew/${folder})
endforeach()

target_include_directories(strew INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/strew> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(strew INTERFACE cxx_std_20)
install(TARGETS strew EXPORT strew LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(target strew_rt_shared strew_rt_static strew_llvm strew_halide strew_pto strew_import_mlir strew_cli)
  if(TARGET ${target})
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
install(EXPORT strew NAMESPACE strew:: FILE strewTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/strew)
file(WRITE ${CMAKE_BINARY_DIR}/strewConfig.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(Threads)\ninclude(\${CMAKE_CURRENT_LIST_DIR}/strewTargets.cmake)\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/strewConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/strewConfig.cmake ${CMAKE_BINARY_DIR}/strewConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/strew)
