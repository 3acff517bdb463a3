// See sanitize.h. ThreadSanitizer: the runtime's own code is instrumented by the compiler that builds strew, kernels by LLVM's pass of
// the same name, whose calls into the sanitizer's runtime backends/llvm/link resolves. The pass knows accesses of up to 16 bytes and passes
// over wider ones, so vectors are split first. AddressSanitizer is left to the guard pages of the differential test, which need no
// instrumentation and see every access. Tested by tests/unit/sanitize_test.cc, which plants a race.
#include "backends/llvm/codegen/sanitize.h"

#ifdef __SANITIZE_THREAD__
#include <llvm/IR/Function.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#endif

namespace strew {

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

}  // namespace strew
