// Parse hooks for operations of the tensor dialect whose own parser does not do.
#pragma once

#include <mlir/IR/OpImplementation.h>

namespace strew::inline v0 {

/// The attribute, without a value, of a scatter in the RFC's spelling that leaves `unique` out: MLIR's verifier demands `unique`, so the
/// operation has it all the same.
inline constexpr char kMayRepeat[] = "strew.may_repeat";

// Each makes the operation that MLIR's dialect has.
mlir::ParseResult tensor_gather_form(mlir::OpAsmParser& parser, mlir::OperationState& state);
mlir::ParseResult tensor_scatter_form(mlir::OpAsmParser& parser, mlir::OperationState& state);
mlir::ParseResult from_elements_form(mlir::OpAsmParser& parser, mlir::OperationState& state);

}  // namespace strew::inline v0
