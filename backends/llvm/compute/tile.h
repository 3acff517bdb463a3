// Emits tiles (backends/lower/tiles.h). The rows of a tensor that lies in columns are loaded as vectors along the columns and transposed by shuffles of two
// registers; then each row is computed as a lane loop's vector is; results in columns are transposed before they are stored.
// Tested by tests/differential and tests/golden/machine_code_test.cc.
#pragma once

#include "backends/llvm/address/frame.h"

namespace strew::inline v0 {

class TileEmitter {
 public:
  /// Tiles of `size` iterations of `rows` by as many of `columns`.
  TileEmitter(Frame& frame, const lowered::Body& body, const Loop& rows, const Loop& columns, int size);

  /// Emits the tile whose first element is that of the iterations `row` and `column`. p: pointers at iteration 0 of both loops.
  void emit(const Pointers& p, llvm::Value* row, llvm::Value* column);

 private:
  using Rows = llvm::SmallVector<llvm::Value*, 16>;
  Rows load(int tensor, llvm::Value* first);
  void store(int tensor, llvm::Value* first, const Rows& rows);
  Rows row(const Pointers& first, llvm::Value* i, llvm::ArrayRef<llvm::Value*> loaded);
  void straight(const Pointers& first);
  void in_loop(const Pointers& first);

  Frame& f_;
  const lowered::Body& body_;
  const Loop &rows_, &columns_;
  int size_;
  lowered::Graph graph_;
  std::vector<int> reads_, writes_;  ///< tensors that are transposed
};

}  // namespace strew::inline v0
