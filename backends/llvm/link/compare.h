// compare_load: links an object with JITLink and compares with what the loader (backends/loader/loader.h) made of the same object. The two lie at
// different addresses, so bytes must be equal except where JITLink's graph has relocations; there, both must refer to the same place of a section,
// or to the same function of the process. JITLink reads the object on its own, so a section, a relocation or a symbol that the loader forgets or
// misreads shows as a difference. Tests compare every object that they link (tests/support/load_check.h). Tested by
// tests/unit/backends/loader/loader_test.cc.
#pragma once

#include <string_view>

#include "backends/loader/loader.h"
#include "strew/status.h"

namespace strew::inline v0 {

Status compare_load(std::string_view object, const LoadedLayout& layout);

}  // namespace strew::inline v0
