// Externals: the functions outside of a kernel that generated code may call. These are the math table (base/math), the C library's rounding and
// memory functions, and no other symbol of the process. Tested by tests/unit/backends/link_test.cc.
#pragma once

#include <string_view>

#include "strew/export.h"

namespace strew::inline v0 {

/// Null: generated code may not use that name.
STREW_API const void* find_external(std::string_view name);

}  // namespace strew::inline v0
