// The tolerant form: parses the operands, regions and types of an operation whose pretty form has no hook of its own.
#pragma once

#include <mlir/IR/OpImplementation.h>

namespace strew::inline v0 {

using UnresolvedOperands = llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand, 4>;

/// What the parser has not yet consumed, cut at 8 KiB, so that looking ahead costs the same in a file of any length.
llvm::StringRef text_ahead(mlir::OpAsmParser& parser);

/// Does the text start with a list of integers in brackets, "[1, -2]"?
bool is_integer_list(llvm::StringRef text);

/// Consumes one token, or brackets with all that is in them. Operands in round brackets are appended to `operands` if that is given. Fails
/// without a message at a closing bracket, at a colon and at the end of the operation.
mlir::ParseResult skip_piece(mlir::OpAsmParser& parser, UnresolvedOperands* operands);

/// Parses the arguments of a region, if there are any, and the region. Succeeds without parsing if there is none here.
mlir::OptionalParseResult parse_region_here(mlir::OpAsmParser& parser, mlir::OperationState& state);

/// Does an operation end before `ahead`? `last` is where the last piece of it began: another operation starts on a line of its own.
bool ends_operation(llvm::StringRef ahead, const char* last);

}  // namespace strew::inline v0
