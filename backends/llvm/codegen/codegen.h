// codegen: a module of LLVM IR becomes a relocatable object or assembly for a Target.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string>

#include "base/status.h"
#include "schedules/target.h"

namespace strew {

enum class CodegenOutput { object, assembly };

/// Sets triple and data layout; called before anything is emitted into the module.
Status prepare(llvm::Module& module, const Target& target);
/// Runs the (short) pass pipeline; verifies the module in debug builds. `has_bitcode`: it holds another compiler's loops (link_bitcode.h).
Status optimise(llvm::Module& module, const Target& target, bool has_bitcode);
Expected<std::string> generate(llvm::Module& module, const Target& target, CodegenOutput output);
/// After an exception in LLVM: this thread's TargetMachine may have been in use, so it is never used or freed again.
void leak_machine();

}  // namespace strew
