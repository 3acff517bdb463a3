// codegen: turns a module of LLVM IR into a relocatable object or assembly for a Target. In order: prepare() before the IR is emitted, optimise()
// after it, then generate(). Tested by tests/golden/machine_code_test.cc.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string>

#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

enum class CodegenOutput { object, assembly };

/// Sets the module's triple and data layout, which emission depends on.
Status prepare(llvm::Module& module, const Target& target);
/// Verifies the module in debug builds and runs the pass pipeline. `has_bitcode`: the module holds functions that link_bitcode() inlined, which
/// need two passes more.
Status optimise(llvm::Module& module, const Target& target, bool has_bitcode);
Expected<std::string> generate(llvm::Module& module, const Target& target, CodegenOutput output);
/// To be called after an exception in LLVM: this thread's TargetMachine may have been left in any state, so it is never used or freed again.
void leak_machine();

}  // namespace strew::inline v0
