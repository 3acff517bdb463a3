// ExternalBody: calls of loops that another compiler made (backends/halide/can_build/body_signature.h), from entries made here.
//
// range and clip hand over one position at a time: the buffers' addresses have moved there, its coordinates are zeros (in a kernel with an
// entry for lists: those of a list of the one entry (0, 0)). Once the other side's function is inlined (link_bitcode.h), the buffers are gone
// and so is the loop over that list. The entry list hands over its list as it is, with positions and keys for the other side to follow;
// whatever a 32-bit dimension cannot hold goes one by one there, too.
#pragma once

#include <string>

#include "backends/halide/can_build/body_signature.h"
#include "backends/llvm/address/window.h"

namespace strew {

class ExternalBody {
 public:
  ExternalBody(Frame& frame, const BodySignature& signature, const std::string& symbol);

  /// i1: every extent, stride and key of this call fits the other side, so whole lists can be handed over.
  llvm::Value* fits();

  /// BodySignature listed: applies `count` (i64, at most kMostEntries) entries of the list with pos 0, key 0 at p. All windows whole.
  void apply(const Pointers& p, llvm::Value* list, llvm::Value* count);
  /// Applies one position with p at its window (placement: which cuts it, like `cut`; null: whole).
  void apply_one(const Pointers& p, const Placement* placement, WindowCut cut);

  static constexpr int64_t kMostEntries = 1 << 30;

 private:
  bool has_packed() const;
  llvm::Value* within_limit(llvm::Value* number);
  llvm::Value* largest_key();
  llvm::Value* steps_of(const SignatureDim& dim, llvm::Value* keys);
  llvm::Value* piece(size_t level);
  void nest(const Pointers& p, const Placement* placement, WindowCut cut, size_t level);
  void call(const Pointers& p, llvm::Value* list, llvm::Value* count);
  /// The one caller of SYMBOL_apply in the module (one more whose vectors are streamed): takes the numbers of a call in registers, lays
  /// them out as buffers.
  llvm::Function* trampoline(const std::vector<llvm::Value*>& arguments, size_t scalars, bool stream);
  bool may_stream() const;

  Frame& f_;
  Emitter& e_;
  const BodySignature& signature_;
  std::string symbol_;
  std::vector<const SignatureBuffer*> buffers_;  ///< the list, if any; inputs, results
  std::vector<llvm::Value*> extents_;            ///< per window loop, i32; null where fixed
  llvm::Value* one_ = nullptr;                   ///< signature listed: the list of the one entry (0, 0)
};

}  // namespace strew
