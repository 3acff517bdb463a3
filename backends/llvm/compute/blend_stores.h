// blend_stores: a pass that keeps LLVM 22 from turning "store select(mask, new, load p) to p" into a masked store, which is slow with AVX.
// Tested by tests/golden/machine_code_test.cc.
#pragma once

#include <llvm/IR/PassManager.h>

#include "strew/target.h"

namespace strew::inline v0 {

/// Adds the pass if the target needs it: x86-64 with AVX but without AVX-512.
void add_blend_store_pass(llvm::FunctionPassManager& passes, const Target& target);

}  // namespace strew::inline v0
