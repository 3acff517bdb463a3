// See sanitize.h. In builds with ThreadSanitizer, the compiler instruments strew's own code, and LLVM's pass of the same name instruments the
// kernels; backends/llvm/link resolves the kernels' calls into the sanitizer's runtime. The pass ignores accesses of more than 16 bytes, so
// vectors are split into scalars first. In builds with AddressSanitizer kernels are not instrumented: the guard pages of the differential test
// see every access without it. Tested by tests/unit/backends/llvm/codegen/sanitize_test.cc, which plants a race.
#include "backends/llvm/codegen/sanitize.h"

#ifdef __SANITIZE_THREAD__
#include <llvm/IR/Function.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#endif

namespace strew::inline v0 {

#ifdef __SANITIZE_THREAD__

namespace {

struct MarkFunction : llvm::PassInfoMixin<MarkFunction> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& /*analyses*/) {
    function.addFnAttr(llvm::Attribute::SanitizeThread);
    return llvm::PreservedAnalyses::all();
  }
};

}  // namespace

void add_sanitizer_passes(llvm::FunctionPassManager& passes) {
  llvm::ScalarizerPassOptions split;
  split.ScalarizeMinBits = 128;
  split.ScalarizeLoadStore = true;
  passes.addPass(llvm::ScalarizerPass(split));
  passes.addPass(MarkFunction());
  passes.addPass(llvm::ThreadSanitizerPass());
}

#else

void add_sanitizer_passes(llvm::FunctionPassManager& /*passes*/) {}

#endif

}  // namespace strew::inline v0
