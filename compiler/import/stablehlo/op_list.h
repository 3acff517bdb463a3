// The list of operations that the StableHLO front end reads, each with its handler. To add an operation, add a row in op_list.cc.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

#include "strew/status.h"

namespace mlir {
class Operation;
}

namespace strew::inline v0 {

class Translation;
using OpHandler = Status (*)(Translation& t, mlir::Operation* op);

const OpHandler* find_handler(llvm::StringRef name);  ///< null if there is none
bool is_indexed(llvm::StringRef name);                ///< a scatter or gather of StableHLO

// scatter.cc, gather.cc, slices.cc, constant.cc, call.cc: operations that become kernels or constants
Status import_scatter(Translation& t, mlir::Operation* op);
Status import_gather(Translation& t, mlir::Operation* op);
Status import_dynamic_slice(Translation& t, mlir::Operation* op);
Status import_dynamic_update_slice(Translation& t, mlir::Operation* op);
Status import_constant(Translation& t, mlir::Operation* op);
Status import_call(Translation& t, mlir::Operation* op);
Status import_custom_call(Translation& t, mlir::Operation* op);
Status import_dynamic_gather(Translation& t, mlir::Operation* op);
// movement.cc, reduce.cc, elementwise.cc: operations that become Computes. Elementwise operations share one handler, which finds them in
// scalar_op.h, so they have no rows.
Status import_iota(Translation& t, mlir::Operation* op);
Status import_broadcast_in_dim(Translation& t, mlir::Operation* op);
Status import_reshape(Translation& t, mlir::Operation* op);
Status import_transpose(Translation& t, mlir::Operation* op);
Status import_slice(Translation& t, mlir::Operation* op);
Status import_concatenate(Translation& t, mlir::Operation* op);
Status import_reverse(Translation& t, mlir::Operation* op);
Status import_reduce(Translation& t, mlir::Operation* op);
Status import_elementwise(Translation& t, mlir::Operation* op);
Status import_optimization_barrier(Translation& t, mlir::Operation* op);
// dynamic_shapes.cc, pad.cc, reduce_window.cc
Status import_get_dimension_size(Translation& t, mlir::Operation* op);
Status import_dynamic_broadcast_in_dim(Translation& t, mlir::Operation* op);
Status import_dynamic_reshape(Translation& t, mlir::Operation* op);
Status import_dynamic_iota(Translation& t, mlir::Operation* op);
Status import_pad(Translation& t, mlir::Operation* op);
Status import_reduce_window(Translation& t, mlir::Operation* op);

}  // namespace strew::inline v0
