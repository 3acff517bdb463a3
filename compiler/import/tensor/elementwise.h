// Elementwise operations of arith, math and stablehlo on tensors, as nodes of an expression graph.
#pragma once

#include <mlir/IR/Operation.h>

#include <optional>
#include <vector>

#include "base/status.h"
#include "compiler/op/expr.h"

namespace strew {

/// Whether operations of this name are read as one element's arithmetic.
bool is_elementwise(mlir::Operation* op);

/// Appends what `op` does to one element: `args` are the nodes of its operands. Gives the result's node. The operands and the result
/// must be tensors of one shape. Failures have no place yet.
Expected<int32_t> append_elementwise(mlir::Operation* op, const std::vector<int32_t>& args, Expr& expr);

/// The element of a constant whose elements are all the same; none for any other value.
Expected<std::optional<Scalar>> splat_of(mlir::Value value);
bool is_constant(mlir::Operation* op);  ///< arith.constant or stablehlo.constant

}  // namespace strew
