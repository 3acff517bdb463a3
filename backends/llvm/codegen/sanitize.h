// sanitize: instruments generated kernels in builds of strew with a sanitizer, so that the sanitizer sees their memory accesses. Limit:
// ThreadSanitizer only. Tested by tests/unit/backends/llvm/codegen/sanitize_test.cc.
#pragma once

#include <llvm/IR/PassManager.h>

namespace strew::inline v0 {

/// Adds the instrumenting passes of the sanitizer that strew itself was built with; adds nothing in other builds.
void add_sanitizer_passes(llvm::FunctionPassManager& passes);

}  // namespace strew::inline v0
