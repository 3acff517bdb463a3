# Halide::Halide, from the Python wheel: HALIDE_ROOT if given (the wheel's folder, with include/ and lib64/), else what the project's .venv
# has (requirements.txt), or the Python that builds a wheel. The wheel's own CMake package wants CMake 3.28 and is not used. Sets STREW_HALIDE_FOUND and
# STREW_HALIDE_VERSION.
#
# libstrew_halide finds libHalide.so beside itself: a symbolic link in the build tree, a copy with its licence in an installation, which
# works without the wheel.
set(STREW_HALIDE_FOUND FALSE)
if(NOT HALIDE_ROOT)
  set(python ${CMAKE_SOURCE_DIR}/.venv/bin/python3)
  if(NOT EXISTS ${python})
    set(python ${Python_EXECUTABLE})  # of pip, which installed what bindings/python/halide/pyproject.toml names
  endif()
  if(EXISTS "${python}")
    # find_spec does not import the package, which would load NumPy and libHalide.
    execute_process(
      COMMAND ${python} -c "import importlib.util as u, os; s = u.find_spec('halide'); print(os.path.dirname(s.origin) if s else '')"
      OUTPUT_VARIABLE HALIDE_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
if(EXISTS ${HALIDE_ROOT}/include/Halide.h AND EXISTS ${HALIDE_ROOT}/lib64/libHalide.so)
  file(STRINGS ${HALIDE_ROOT}/include/HalideRuntime.h version REGEX "#define HALIDE_VERSION_MAJOR [0-9]+")
  string(REGEX REPLACE "[^0-9]" "" version "${version}")
  if(version EQUAL 21)
    add_library(Halide::Halide SHARED IMPORTED)
    set_target_properties(Halide::Halide PROPERTIES
      IMPORTED_LOCATION ${HALIDE_ROOT}/lib64/libHalide.so
      IMPORTED_SONAME libHalide.so
      INTERFACE_INCLUDE_DIRECTORIES ${HALIDE_ROOT}/include
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${HALIDE_ROOT}/include)
    set(STREW_HALIDE_FOUND TRUE)
    set(STREW_HALIDE_VERSION ${version})
    message(STATUS "Halide ${version}: ${HALIDE_ROOT}")
  else()
    message(STATUS "Halide: ${HALIDE_ROOT} is version '${version}', expected 21: the halide backend is left out")
  endif()
else()
  message(STATUS "Halide: not found (set HALIDE_ROOT, or let ./dev build install it into .venv): the halide backend is left out")
endif()

function(strew_install_halide)
  set(library ${HALIDE_ROOT}/lib64/libHalide.so)
  set(folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${STREW_MODULE_FOLDER})
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${library} ${folder}/libHalide.so SYMBOLIC)
  get_filename_component(file ${library} REALPATH)
  install(PROGRAMS ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/${STREW_MODULE_FOLDER} RENAME libHalide.so COMPONENT halide)
  # Its autoschedulers, which the tuner asks for candidates (backends/halide/proposals.h).
  foreach(name mullapudi2016 li2018 adams2019)
    set(plugin ${HALIDE_ROOT}/lib64/libautoschedule_${name}.so)
    if(EXISTS ${plugin})
      file(CREATE_LINK ${plugin} ${folder}/libautoschedule_${name}.so SYMBOLIC)
      install(PROGRAMS ${plugin} DESTINATION ${CMAKE_INSTALL_LIBDIR}/${STREW_MODULE_FOLDER} COMPONENT halide)
    endif()
  endforeach()
  set(licence ${HALIDE_ROOT}/share/doc/Halide/LICENSE.txt)
  if(NOT EXISTS ${licence})
    message(FATAL_ERROR "Halide: ${licence} does not exist; an installation carries libHalide.so and needs its licence beside it")
  endif()
  install(FILES ${licence} DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.Halide.txt COMPONENT halide)
endfunction()
