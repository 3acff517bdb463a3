// forbid_executable_memory(): from here on the system refuses this process, and those that it starts, every page that is executable and is not
// one yet, as hardened services do. Tested by ctest's portable_without_executable_memory.
#pragma once

#include <string>

namespace strew::test {

/// Empty: it is forbidden, which was tried. Else why the system cannot forbid it.
std::string forbid_executable_memory();

}  // namespace strew::test
