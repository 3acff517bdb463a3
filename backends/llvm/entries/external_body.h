// ExternalBody: calls the loop body that Halide compiled (backends/halide/can_build/body_signature.h) from entry functions that LLVM emits
// here. The body is the function SYMBOL_apply; its bitcode is linked into our module afterwards (backends/llvm/codegen/link_bitcode.h).
//
// The entries `range` and `clip` call the body once per index position. They pass Halide buffers whose base pointers already point at the
// window of that position, so the body sees coordinates that start at 0. If the body's signature takes a list, they pass a constant list of
// the one entry (position 0, key 0); once the body is inlined, the buffers and the loop over that list disappear.
//
// The entry `list` passes its whole list of (position, key) pairs, and the body computes the addresses. Halide's dimensions are 32 bits wide:
// where an extent, stride or key of a call does not fit (`fits`), `list` calls the body position by position, too. Tested by
// tests/unit/backends/halide/halide_test.cc and tests/differential.
#pragma once

#include <string>

#include "backends/llvm/address/window.h"
#include "backends/llvm/entries/entries.h"

namespace strew::inline v0 {

class ExternalBody {
 public:
  ExternalBody(Frame& frame, const ExternalCode& code);

  /// i1: every extent, stride and key of this call fits Halide's 32-bit dimensions, so that whole lists can be passed.
  llvm::Value* fits();

  /// Only if the signature takes a list: applies `count` (i64, at most kMostEntries) entries of `list`, each with its whole window. p: pointers
  /// at position 0 and key 0.
  void apply(const Pointers& p, llvm::Value* list, llvm::Value* count);
  /// Applies one position. p: pointers at the start of its window, of which `placements` and the entry's cut say what is done.
  void apply_one(const Pointers& p, const Placements& placements);

  static constexpr int64_t kMostEntries = 1 << 30;

 private:
  bool has_packed() const;
  /// i1: is the i64 `number` between -kHalideLimit and kHalideLimit?
  llvm::Value* within_limit(llvm::Value* number);
  llvm::Value* largest_key();
  llvm::Value* steps_of(const SignatureDim& dim, llvm::Value* keys);
  llvm::Value* piece(size_t level);
  /// Emits the window loops from `level` on that the body does not have as constants, in pieces, and the call of the body inside.
  void nest(const Pointers& p, const Placements& placements, size_t level);
  /// Emits the call of the body with extents_. p: pointers at the start of the window (a list: at position 0 and key 0).
  void call(const Pointers& p, llvm::Value* list, llvm::Value* count);
  /// The function through which every entry of the module calls SYMBOL_apply. It takes addresses, extents and strides as plain arguments and
  /// builds the halide_buffer_t structs from them, so this code exists once. `stream`: a second one, whose vector stores are non-temporal.
  llvm::Function* trampoline(const std::vector<llvm::Value*>& arguments, size_t scalars, bool stream);
  bool may_stream() const;

  Frame& f_;
  Emitter& e_;
  const BodySignature& signature_;
  std::string symbol_;
  /// The buffers that are passed: the list, if the signature takes one, inputs, results.
  std::vector<const SignatureBuffer*> buffers_;
  /// Per window loop, the extent that is passed, i32; null: the body has it as a constant.
  std::vector<llvm::Value*> extents_;
  /// The constant list of the one entry (position 0, key 0), if the signature takes a list.
  llvm::Value* one_ = nullptr;
};

}  // namespace strew::inline v0
