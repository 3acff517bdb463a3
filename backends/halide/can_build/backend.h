// The Halide backend as the list sees it: answers can_build itself, opens libstrew_halide and libstrew_llvm only to build.
#pragma once

#include "backends/backend.h"

namespace strew {

const Backend* halide_backend();

/// Was libstrew_halide built with this libstrew (STREW_WITH_HALIDE)?
bool has_halide();

}  // namespace strew
