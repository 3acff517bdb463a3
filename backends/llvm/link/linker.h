// process_linker: the one Linker (backends/link.h) of this process, made with LLVM's JITLink. Part of libstrew_llvm.
// Tested by tests/unit/backends/link_test.cc.
#pragma once

#include "backends/link.h"

namespace strew::inline v0 {

Linker* process_linker();

}  // namespace strew::inline v0
