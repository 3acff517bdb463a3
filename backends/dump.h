// dump_kernel: writes what a backend made of a kernel into the folder that STREW_DUMP names: SYMBOL.ll (LLVM IR after optimisation), SYMBOL.s
// (assembly) and SYMBOL.o (the object). Tested by tests/unit/backends/dump_test.cc.
#pragma once

#include <string>

#include "backends/backend.h"

namespace strew::inline v0 {

/// Makes the folder if it is missing. A folder that cannot be written is one warning in the log for the whole process. Nothing is written for
/// kernels without an object, nor if `folder` is empty.
void dump_kernel(const std::string& folder, const Backend& backend, const BuildRequest& request, const Artifact& artifact);

}  // namespace strew::inline v0
