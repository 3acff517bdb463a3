// Computation: the elementwise operations between what the program holds as tensors and one value.
#pragma once

#include <llvm/ADT/SetVector.h>
#include <mlir/IR/Operation.h>

#include <functional>
#include <vector>

#include "base/status.h"
#include "compiler/import/mlir/parse.h"
#include "compiler/op/expr.h"

namespace strew {

inline constexpr size_t kMaxComputation = 512;  ///< operations between two indexed ones

struct Computation {
  mlir::Value result;
  std::vector<mlir::Operation*> ops;    ///< in the text's order; empty: `result` is itself a leaf
  llvm::SetVector<mlir::Value> leaves;  ///< what it reads, splat constants aside, in the order of reading
  std::string names() const;            ///< "arith.mulf, arith.addf", for notes

  /// Fails where there are too many operations.
  static Expected<Computation> of(mlir::Value result, const ParsedModule& parsed);
  /// One element of it; `leaf` says which node a leaf is.
  Expected<Expr> expression(const ParsedModule& parsed, const std::function<ExprNode(mlir::Value)>& leaf) const;
};

}  // namespace strew
