// The list of operations the StableHLO front end reads, each with its handler. Adding one is a row in op_list.cc.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

#include "runtime/status.h"

namespace mlir {
class Operation;
}

namespace strew {

class Translation;
using OpHandler = Status (*)(Translation& t, mlir::Operation* op);

const OpHandler* find_handler(llvm::StringRef name);  ///< null if there is none
std::string handled_operations();                     ///< for messages

// scatter.cc, gather.cc, slices.cc, constant.cc, call.cc
Status import_scatter(Translation& t, mlir::Operation* op);
Status import_gather(Translation& t, mlir::Operation* op);
Status import_dynamic_slice(Translation& t, mlir::Operation* op);
Status import_dynamic_update_slice(Translation& t, mlir::Operation* op);
Status import_constant(Translation& t, mlir::Operation* op);
Status import_call(Translation& t, mlir::Operation* op);
Status import_custom_call(Translation& t, mlir::Operation* op);

}  // namespace strew
