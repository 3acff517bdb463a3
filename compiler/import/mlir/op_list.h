// The operations that the front ends over MLIR's text read, each with its handler. Every dialect has a table of its own (op_list.cc in its
// folder); find_op() asks them all, so one file may mix dialects. To add an operation, add a row to its dialect's table.
#pragma once

#include <llvm/ADT/StringRef.h>

#include "strew/status.h"

namespace mlir {
class Operation;
}

namespace strew::inline v0 {

class Translation;
/// Its errors need not say where the operation stands.
using OpHandler = Status (*)(Translation& t, mlir::Operation* op);

struct OpRow {
  static constexpr bool kIndexed = true;
  llvm::StringRef name;
  OpHandler handler;
  bool indexed = false;  ///< a scatter or gather, or an operation that is one
};

const OpRow* find_op(llvm::StringRef name);  ///< null if no dialect reads it
bool is_indexed(llvm::StringRef name);

// constant.cc
Status import_constant(Translation& t, mlir::Operation* op);

}  // namespace strew::inline v0
