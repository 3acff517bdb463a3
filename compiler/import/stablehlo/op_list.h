// The list of StableHLO's operations, each with its handler. To add an operation, add a row in op_list.cc.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/mlir/op_list.h"
#include "compiler/import/mlir/operands.h"

namespace strew::inline v0 {

/// The row of an operation of stablehlo, chlo or sdy; null if there is none.
const OpRow* find_stablehlo_op(llvm::StringRef name);

std::vector<std::string> stablehlo_operations();  ///< the names of all of them

// scatter.cc, gather.cc, slices.cc, custom_call.cc: operations that become kernels or conditions
Status import_scatter(Translation& t, mlir::Operation* op);
Status import_gather(Translation& t, mlir::Operation* op);
Status import_dynamic_slice(Translation& t, mlir::Operation* op);
Status import_dynamic_update_slice(Translation& t, mlir::Operation* op);
Status import_custom_call(Translation& t, mlir::Operation* op);
Status import_dynamic_gather(Translation& t, mlir::Operation* op);
Status import_dot_general(Translation& t, mlir::Operation* op);  // dot_general.cc
// reduce.cc, reduce_window.cc, elementwise.cc: operations with a function. Elementwise operations share one handler, which finds them in
// scalar_op.h, so they have no rows.
Status import_reduce(Translation& t, mlir::Operation* op);
Expected<int> read_reduce_window(OpReader& r);
Expected<int> read_elementwise(OpReader& r);
Status import_optimization_barrier(Translation& t, mlir::Operation* op);
// movement.cc
Expected<int> read_iota(OpReader& r);
Expected<int> read_dynamic_iota(OpReader& r);
Expected<int> read_broadcast_in_dim(OpReader& r);
Expected<int> read_dynamic_broadcast_in_dim(OpReader& r);
Expected<int> read_reshape(OpReader& r);
Expected<int> read_dynamic_reshape(OpReader& r);
Expected<int> read_transpose(OpReader& r);
Expected<int> read_slice(OpReader& r);
Expected<int> read_reverse(OpReader& r);
Expected<int> read_concatenate(OpReader& r);
Expected<int> read_pad(OpReader& r);
Expected<int> read_get_dimension_size(OpReader& r);

}  // namespace strew::inline v0
