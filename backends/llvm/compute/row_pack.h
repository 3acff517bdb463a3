// RowPack: moves several short rows at a time. Where windows are runs shorter than a vector, and what is written or read in order (a gather's
// results, a scatter's updates) lies without gaps, an iteration of the loop does several positions, and one vector holds the
// rows of some: a gather loads its parts from the table and stores them at once, a scatter loads them at once and stores the parts in the order of
// the positions. Where it is done: Walk::Way::packed_rows.
// Tested by tests/differential and tests/golden/machine_code_test.cc.
#pragma once

#include "backends/llvm/compute/body.h"
#include "backends/lower/walk.h"

namespace strew::inline v0 {

class RowPack {
 public:
  explicit RowPack(Frame& frame);
  /// Emits the moves of lowered::kPackedRows positions. at(k): pointers at the k-th of them.
  void apply(llvm::function_ref<Pointers(int k)> at);

 private:
  void gather(llvm::function_ref<Pointers(int k)> at);
  void scatter(llvm::function_ref<Pointers(int k)> at);
  llvm::Type* type_of(int rows) const;
  llvm::Value* join(llvm::ArrayRef<llvm::Value*> rows);
  llvm::Value* part(llvm::Value* vector, int k);

  Frame& f_;
  int64_t row_bytes_;
  int together_;                 ///< rows that a vector holds
  llvm::Value* fill_ = nullptr;  ///< a row of the gather's fill values, if its policy needs one
};

}  // namespace strew::inline v0
