// The list of operations of tensor, linalg, arith and math that become kernels, constants or Computes, each with its handler. To add an
// operation, add a row in op_list.cc. Whatever has none is a boundary.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/mlir/op_list.h"
#include "compiler/import/mlir/operands.h"

namespace strew::inline v0 {

/// The row of an operation of these dialects; null if there is none.
const OpRow* find_tensor_op(llvm::StringRef name);
bool is_arith(llvm::StringRef name);           ///< an elementwise operation of arith or math
std::vector<std::string> arith_operations();   ///< the names of those
std::vector<std::string> tensor_operations();  ///< the names of all

// indexed.cc
Status import_tensor_gather(Translation& t, mlir::Operation* op);
Status import_tensor_scatter(Translation& t, mlir::Operation* op);
// elementwise.cc
Status import_arith(Translation& t, mlir::Operation* op);
// movement.cc
Expected<int> read_cast(OpReader& r);
Expected<int> read_dim(OpReader& r);
Expected<int> read_reshaped(OpReader& r);
Expected<int> read_extract_slice(OpReader& r);
Expected<int> read_insert_slice(OpReader& r);
Expected<int> read_concat(OpReader& r);
Expected<int> read_from_elements(OpReader& r);
Expected<int> read_filled(OpReader& r);

}  // namespace strew::inline v0
