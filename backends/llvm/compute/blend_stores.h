// What keeps a blended store a blend and a store.
#pragma once

#include <llvm/IR/PassManager.h>

#include "schedules/target.h"

namespace strew {

/// Adds the pass where the target needs it: x86 with AVX but not AVX-512.
void add_blend_store_pass(llvm::FunctionPassManager& passes, const Target& target);

}  // namespace strew
