// Run combining: the element that the last position wrote stays in a register for the next one.
#pragma once

#include <llvm/IR/Instructions.h>

#include "backends/llvm/compute/body.h"

namespace strew {

class RegisterRun {
 public:
  /// Does it pay? Sorted indices of a scatter of single elements that reads what is there, many to an element.
  static bool pays(const Frame& frame);

  /// Before the loop over positions.
  explicit RegisterRun(Frame& frame);
  /// Combines one element, p at it.
  void apply(const Pointers& p);

 private:
  Frame& f_;
  llvm::AllocaInst *last_, *value_, *current_;  ///< where the last one went, what it wrote; what this one starts from
};

}  // namespace strew
