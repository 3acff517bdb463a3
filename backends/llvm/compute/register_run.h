// RegisterRun: combines runs of equal indices in a register. When a scatter's indices are sorted, positions that update the same element follow
// each other, so the element that one position wrote is kept in a register for the next. Where it is done: Walk::Way::register_run. Tested by tests/differential and tests/golden/machine_code_test.cc.
#pragma once

#include <llvm/IR/Instructions.h>

#include "backends/llvm/compute/body.h"

namespace strew::inline v0 {

class RegisterRun {
 public:
  /// Allocates the registers; to be emitted before the loop over positions.
  explicit RegisterRun(Frame& frame);
  /// Emits the update of one element. p: pointers at it.
  void apply(const Pointers& p);

 private:
  Frame& f_;
  /// Stack slots, which LLVM turns into registers: the previous update's address and result, and the current value that this update reads.
  llvm::AllocaInst *last_, *value_, *current_;
};

}  // namespace strew::inline v0
