// The process's one linker, behind runtime/link/link.h. Part of libstrew_llvm.
#pragma once

#include "runtime/link/link.h"

namespace strew {

Linker* process_linker();

}  // namespace strew
