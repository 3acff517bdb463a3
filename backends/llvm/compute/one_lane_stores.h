// one_lane_stores: a pass for masked stores of which one lane is written. LLVM 22.1 compiles such a store of narrowed elements wrongly on x86.
// Tested by tests/golden/machine_code_test.cc.
#pragma once

#include <llvm/IR/PassManager.h>

#include "strew/target.h"

namespace strew::inline v0 {

/// Adds the pass if the target needs it: x86-64.
void add_one_lane_store_pass(llvm::FunctionPassManager& passes, const Target& target);

}  // namespace strew::inline v0
