// The boundary form: parses the pretty form of an operation that no front end reads (tensor.empty, linalg.matmul), well enough to know its
// operands, its regions and the types of its results.
#pragma once

#include <mlir/IR/OpImplementation.h>

namespace strew::inline v0 {

mlir::ParseResult boundary_form(mlir::OpAsmParser& parser, mlir::OperationState& state);

}  // namespace strew::inline v0
