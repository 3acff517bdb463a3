// halide_backend: the Halide backend's entry in the list of backends (backends/backends.cc). It answers can_build() itself, and opens
// libstrew_halide and libstrew_llvm only to build. Tested by tests/unit/backends/halide/halide_test.cc.
#pragma once

#include "backends/backend.h"

namespace strew::inline v0 {

const Backend* halide_backend();

/// Was this libstrew built together with libstrew_halide (STREW_WITH_HALIDE)?
bool has_halide();

}  // namespace strew::inline v0
