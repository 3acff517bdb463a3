// Emitter: IRBuilder with structured control flow, so that a kernel body reads like its loop nest.
//
// loop() and when() take the body as a callable and leave the builder after the construct. Everything numeric is i64; addresses are
// an opaque pointer plus a byte offset. C++ does not order the arguments of a call: where two of them would emit instructions, they are named
// first, so that every compiler of strew emits the same kernel. The emitter knows nothing about dtypes (numeric.h) or plans (frame.h).
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>

namespace strew {

/// Which buffers an access touches: results are disjoint from every other tensor (semantics.md section 6), and LLVM is told so.
enum class Access : uint8_t { input, result };

class Emitter {
 public:
  Emitter(llvm::Module& module, llvm::Function& function);

  llvm::IRBuilder<> b;
  llvm::Function& function;

  llvm::LLVMContext& context() { return b.getContext(); }
  llvm::Value* i64(int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); }

  struct LoopOptions {
    int64_t step = 1;
    int unroll = 0;  ///< force this unroll factor; 0: leave it; 1: never
  };
  /// for (i = begin; i < end; i += step) body(i); signed compare.
  void loop(llvm::Value* begin, llvm::Value* end, const LoopOptions& options, llvm::function_ref<void(llvm::Value* i)> body);
  void loop(llvm::Value* begin, llvm::Value* end, llvm::function_ref<void(llvm::Value* i)> body) { loop(begin, end, {}, body); }

  /// if (condition) then(); constant conditions emit no branch.
  void when(llvm::Value* condition, llvm::function_ref<void()> then);
  void when(llvm::Value* condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
    when(condition, then, otherwise, nullptr);
  }
  /// The same where it nearly always is: `then` is laid out in line.
  void when_likely(llvm::Value* condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise);

  /// Memory of the call's own, cleared, made at the entry.
  llvm::AllocaInst* slot(llvm::Type* type);

  llvm::Value* smin(llvm::Value* a, llvm::Value* b);
  llvm::Value* smax(llvm::Value* a, llvm::Value* b);
  llvm::Value* add(llvm::Value* a, llvm::Value* b) { return b_add(a, b); }
  /// a * constant, folded for 0 and 1.
  llvm::Value* times(llvm::Value* a, llvm::Value* b);

  llvm::Value* at(llvm::Value* pointer, llvm::Value* byte_offset);
  /// Unaligned unless `align` says more.
  llvm::Value* load(llvm::Type* type, llvm::Value* pointer, Access access, uint64_t align = 1);
  void store(llvm::Value* value, llvm::Value* pointer, uint64_t align = 1, bool nontemporal = false);

 private:
  void when(llvm::Value* condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise, llvm::MDNode* weights);
  llvm::Value* b_add(llvm::Value* a, llvm::Value* c);
  llvm::MDNode* result_scope_;  // alias.scope list of result accesses, noalias list of the others
};

}  // namespace strew
