// Where the sources and the build of this test program are. The two paths are compiled into paths.cc alone, so that every other object is
// the same in each checkout and a compiler cache can share it.
#pragma once

#include <filesystem>
#include <string>

namespace strew::test {

/// The root of the source tree.
std::filesystem::path source_folder();
/// The path of a program of this build: built_program("strew") is the command line.
std::string built_program(const std::string& name);
/// The folder of this build's libraries.
std::filesystem::path built_libraries();

}  // namespace strew::test
