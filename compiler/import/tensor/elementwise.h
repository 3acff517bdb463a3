// Translates elementwise operations of arith, math and stablehlo on tensors to nodes of an expression graph.
#pragma once

#include <mlir/IR/Operation.h>

#include <optional>
#include <vector>

#include "strew/expr.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Is `op` translated as arithmetic on single elements?
bool is_elementwise(mlir::Operation* op);

/// Appends the nodes that compute one element of the result of `op`; `args` are the nodes of its operands. Returns the result's node. The
/// operands and the result must be tensors of one shape. Error messages have no location; the caller adds it.
Expected<int32_t> append_elementwise(mlir::Operation* op, const std::vector<int32_t>& args, Expr& expr);

/// The element of a constant tensor whose elements are all equal; nullopt for any other value.
Expected<std::optional<Scalar>> splat_of(mlir::Value value);
bool is_constant(mlir::Operation* op);  ///< arith.constant or stablehlo.constant

}  // namespace strew::inline v0
