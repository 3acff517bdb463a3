// The process's one linker, behind backends/link.h. Part of libstrew_llvm.
#pragma once

#include "backends/link.h"

namespace strew {

Linker* process_linker();

}  // namespace strew
