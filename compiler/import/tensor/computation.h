// Computation: the elementwise operations that compute one value from tensors that the program holds (its leaves).
#pragma once

#include <llvm/ADT/SetVector.h>
#include <mlir/IR/Operation.h>

#include <functional>
#include <vector>

#include "compiler/import/mlir/parse.h"
#include "strew/expr.h"
#include "strew/status.h"

namespace strew::inline v0 {

inline constexpr size_t kMaxComputation = 512;  ///< the most operations between two indexed operations

struct Computation {
  mlir::Value result;
  std::vector<mlir::Operation*> ops;    ///< in the order of the text; empty if `result` is itself a leaf
  llvm::SetVector<mlir::Value> leaves;  ///< the tensors it reads, without splat constants, in the order of reading
  std::string names() const;            ///< "arith.mulf, arith.addf", for notes

  /// Collects the operations that compute `result`. Fails if there are more than kMaxComputation.
  static Expected<Computation> of(mlir::Value result, const ParsedModule& parsed);
  /// The graph that computes one element of `result`. `leaf` gives the node for a leaf.
  Expected<Expr> expression(const ParsedModule& parsed, const std::function<ExprNode(mlir::Value)>& leaf) const;
};

}  // namespace strew::inline v0
