// The list of operations the StableHLO front end reads, each with its handler. Adding one is a row in op_list.cc.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

#include "base/status.h"

namespace mlir {
class Operation;
}

namespace strew {

class Translation;
using OpHandler = Status (*)(Translation& t, mlir::Operation* op);

const OpHandler* find_handler(llvm::StringRef name);  ///< null if there is none
std::string handled_operations();                     ///< for messages

// scatter.cc, gather.cc, slices.cc, constant.cc, call.cc: kernels and what feeds them
Status import_scatter(Translation& t, mlir::Operation* op);
Status import_gather(Translation& t, mlir::Operation* op);
Status import_dynamic_slice(Translation& t, mlir::Operation* op);
Status import_dynamic_update_slice(Translation& t, mlir::Operation* op);
Status import_constant(Translation& t, mlir::Operation* op);
Status import_call(Translation& t, mlir::Operation* op);
Status import_custom_call(Translation& t, mlir::Operation* op);
Status import_dynamic_gather(Translation& t, mlir::Operation* op);
// movement.cc, reduce.cc, elementwise.cc: what is interpreted around the kernels. Elementwise operations have no row: scalar_op.h
// knows them.
Status import_iota(Translation& t, mlir::Operation* op);
Status import_broadcast_in_dim(Translation& t, mlir::Operation* op);
Status import_reshape(Translation& t, mlir::Operation* op);
Status import_transpose(Translation& t, mlir::Operation* op);
Status import_slice(Translation& t, mlir::Operation* op);
Status import_concatenate(Translation& t, mlir::Operation* op);
Status import_reduce(Translation& t, mlir::Operation* op);
Status import_elementwise(Translation& t, mlir::Operation* op);
Status import_optimization_barrier(Translation& t, mlir::Operation* op);

}  // namespace strew
