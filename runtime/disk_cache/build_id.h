// build_id: which strew this is, as far as code that it generates goes: a hash of the sources that decide about code, of the versions of LLVM and
// Halide, and of the build's settings. cmake/strew_build_id.cmake makes it whenever one of them changes, so that no object of an older strew is ever
// taken for one of this. Tested by tests/unit/disk_cache_test.cc.
#pragma once

#include <string_view>

namespace strew::inline v0 {

/// 32 hex digits.
std::string_view build_id();

}  // namespace strew::inline v0
