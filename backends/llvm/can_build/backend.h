// The LLVM backend as the list sees it: answers can_build itself, opens libstrew_llvm only to build.
#pragma once

#include "backends/backend.h"

namespace strew {

const Backend* llvm_backend();

}  // namespace strew
