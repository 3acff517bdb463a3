// See paths.h; tests/CMakeLists.txt defines both names for this file only.
#include "tests/support/paths.h"

namespace strew::test {

std::filesystem::path source_folder() { return STREW_SOURCE_DIR; }
std::string built_program(const std::string& name) { return STREW_BINARY_DIR "/bin/" + name; }
std::filesystem::path built_libraries() { return STREW_BINARY_DIR "/lib"; }

}  // namespace strew::test
