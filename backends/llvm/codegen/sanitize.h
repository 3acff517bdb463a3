// sanitize: what a sanitizer build of strew adds to the kernels it generates, so that the sanitizer sees them too.
#pragma once

#include <llvm/IR/PassManager.h>

namespace strew {

/// Adds the passes that make generated memory accesses visible to the sanitizer strew itself was built with; none in other builds.
void add_sanitizer_passes(llvm::FunctionPassManager& passes);

}  // namespace strew
