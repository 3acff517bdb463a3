// llvm_backend: the LLVM backend's entry in the list of backends (backends/backends.cc). It answers can_build() itself and opens libstrew_llvm
// only to build. Tested by tests/unit/backends/kernel_test.cc.
#pragma once

#include "backends/backend.h"

namespace strew::inline v0 {

const Backend* llvm_backend();

}  // namespace strew::inline v0
