// See failures.h. LLVM calls these handlers where it would otherwise print and abort; it is built without exceptions, but with unwind tables
// (x86-64 always has them), so an exception passes its frames, without running their destructors. operator new throws through the same
// frames without asking anybody. What still ends the process: docs/security.md. Tested by tests/unit/headroom_test.cc.
#include "backends/llvm/codegen/failures.h"

#include <llvm/Support/ErrorHandling.h>

namespace strew {

void install_llvm_handlers() {
  static const bool installed = [] {
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
    llvm::install_fatal_error_handler(
        [](void*, const char* reason, bool) { throw LlvmFatalError(reason == nullptr ? "fatal error" : reason); });
    return true;
  }();
  static_cast<void>(installed);
}

}  // namespace strew
