// Emitter: LLVM's IRBuilder with structured control flow, so that the code that emits a kernel reads like the kernel's loop nest.
//
// loop() and when() take the body as a callable and leave the builder after the construct. Loop counters and offsets are i64; an address is a
// pointer plus a byte offset. The emitter knows nothing about dtypes (numeric.h) or plans (frame.h).
//
// Rule for all code that emits: C++ does not say in which order the arguments of a call are evaluated, so if two arguments would emit
// instructions, they are given names in statements before. Otherwise the kernel would depend on the compiler that built strew.
// Tested by tests/differential, through every kernel.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>

namespace strew::inline v0 {

/// Which buffers a load touches. A result overlaps no other tensor (docs/semantics.md section 6), and LLVM is told so by alias scopes.
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
  /// Emits for (i = begin; i < end; i += step) body(i), with a signed comparison.
  void loop(llvm::Value* begin, llvm::Value* end, const LoopOptions& options, llvm::function_ref<void(llvm::Value* i)> body);
  void loop(llvm::Value* begin, llvm::Value* end, llvm::function_ref<void(llvm::Value* i)> body) { loop(begin, end, {}, body); }

  /// Emits the loop over [begin, end): `group` emits the work for `size` iterations, a power of two, and gets the first of them; `one` emits that
  /// for each iteration of the rest.
  void loop_in_groups(llvm::Value* begin, llvm::Value* end, int size, llvm::function_ref<void(llvm::Value* first)> group,
                      llvm::function_ref<void(llvm::Value* i)> one);

  /// Emits if (condition) then() else otherwise(). A constant condition emits no branch, and the taken side only. `weights`: how likely each is.
  void when(
      llvm::Value* condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = [] {},
      llvm::MDNode* weights = nullptr);
  /// The same for a condition that nearly always holds: `then` is laid out without a jump.
  void when_likely(llvm::Value* condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise);

  /// A stack slot, allocated and set to zero at the entry of the function.
  llvm::AllocaInst* slot(llvm::Type* type);

  llvm::Value* smin(llvm::Value* a, llvm::Value* b);
  llvm::Value* smax(llvm::Value* a, llvm::Value* b);
  /// a + b, folded for 0.
  llvm::Value* add(llvm::Value* a, llvm::Value* b);
  /// a * constant, folded for 0 and 1.
  llvm::Value* times(llvm::Value* a, llvm::Value* b);

  llvm::Value* at(llvm::Value* pointer, llvm::Value* byte_offset);
  /// The address is known to be a multiple of `align`; 1: nothing is known.
  /// While `mask`, i1 per lane, is set, vectors of as many lanes are read and written only in these lanes; the others read as zeros.
  llvm::Value* mask = nullptr;
  llvm::Value* load(llvm::Type* type, llvm::Value* pointer, Access access, uint64_t align = 1);
  void store(llvm::Value* value, llvm::Value* pointer, uint64_t align = 1, bool nontemporal = false);

 private:
  bool is_masked(llvm::Type* type) const;
  llvm::MDNode* result_scope_;  // alias.scope list of result accesses, noalias list of the others
};

}  // namespace strew::inline v0
