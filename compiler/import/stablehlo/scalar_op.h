// Scalar operations: translates an elementwise operation to nodes of an expression graph that compute one element of the result. Used for
// the regions of scatter and reduce and for the elementwise operations around kernels.
#pragma once

#include <mlir/IR/Operation.h>

#include <string>
#include <vector>

#include "strew/expr_builder.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The names of all elementwise operations.
std::vector<std::string> scalar_operations();

/// Is `name` ("stablehlo.add") an elementwise operation?
bool is_scalar_op(llvm::StringRef name);

/// Appends the nodes of `op` to `graph`; `args` are the nodes of its operands and `dtype` is its result's. Returns the last node. Error
/// messages have no location; the caller adds it.
Expected<int32_t> add_scalar_op(mlir::Operation* op, DType dtype, std::vector<int32_t> args, ExprBuilder& graph);

}  // namespace strew::inline v0
