// See failures.h. LLVM calls these handlers where it would otherwise print a message and abort. It is compiled without exceptions, but with
// unwind tables, which x86-64 code always has, so an exception thrown by a handler passes through LLVM's frames. Their destructors do not run.
// The same happens when operator new throws below LLVM. docs/security.md lists what still ends the process.
// Tested by tests/unit/base/headroom_test.cc.
#include "backends/llvm/codegen/failures.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>

#include <stdexcept>

namespace strew::inline v0 {
namespace {

/// Throws what LLVM reported.
[[noreturn]] void throw_error(const std::string& text) { throw std::runtime_error("LLVM: " + text); }

}  // namespace

void install_llvm_handlers() {
  static const bool installed = [] {
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
    llvm::install_fatal_error_handler(
        [](void*, const char* reason, bool) { throw_error(reason == nullptr ? "fatal error" : reason); });
    return true;
  }();
  static_cast<void>(installed);
}

void throw_errors_of(llvm::LLVMContext& context) {
  context.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo* info, void*) {
    if (info->getSeverity() != llvm::DS_Error) return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
    throw_error(text);
  });
}

}  // namespace strew::inline v0
