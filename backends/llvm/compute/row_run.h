// RowRun: combines runs of rows that go to one destination in registers, which hold wide sums where the kernel has them (lowered::WideSum). When a scatter's indices are sorted, positions that update the same row follow
// each other, so the row is loaded once, kept in vector registers while its updates are combined with it, and stored once. Where it is done:
// Walk::Way::row_run. Tested by tests/differential and tests/golden/machine_code_test.cc.
#pragma once

#include <llvm/IR/Instructions.h>

#include <vector>

#include "backends/llvm/compute/body.h"

namespace strew::inline v0 {

class RowRun {
 public:
  /// Allocates the registers, for rows or for panels of rows; to be emitted before the loop over positions.
  explicit RowRun(Frame& frame);
  /// Emits the update of a row. p: pointers at its first element.
  void apply(const lowered::Body& body, const Pointers& p);
  /// Stores the last row; to be emitted after the loop.
  void finish();

 private:
  struct Register {
    lowered::RowPart part;
    llvm::AllocaInst* slot;
  };
  llvm::Value* address(llvm::Value* row, const Register& one);
  llvm::Value* load(llvm::Value* row, const Register& one);
  void store(llvm::Value* row);

  Frame& f_;
  const Loop& loop_;
  /// Stack slots, which LLVM turns into registers: the row that they hold (null: none yet), and its parts.
  llvm::AllocaInst* row_;
  std::vector<Register> registers_;
};

}  // namespace strew::inline v0
