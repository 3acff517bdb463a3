// Scalar operations: what an elementwise operation computes from one element of each operand, as nodes of an expression graph.
// Regions of scatter and reduce and the elementwise operations around the kernels share it.
#pragma once

#include <mlir/IR/Operation.h>

#include <optional>

#include "base/status.h"
#include "compiler/op/expr.h"

namespace strew {

/// The node kind of an operation that is one node ("stablehlo.add", "chlo.erf"): result dtype and arguments as they stand.
std::optional<ExprOp> stablehlo_node(llvm::StringRef name);

/// Whether `name` ("stablehlo.add") is elementwise.
bool is_scalar_op(llvm::StringRef name);

/// Appends to `expr` the nodes for `op` on the nodes `args`, with a result of `dtype`; returns the last. Failures have no place yet.
Expected<int32_t> add_scalar_op(mlir::Operation* op, DType dtype, std::vector<int32_t> args, Expr& expr);

/// A node of `expr` that is `from` in `dtype`: `from` itself where nothing changes.
int32_t add_convert(int32_t from, DType dtype, Expr& expr);

}  // namespace strew
