// Shim dialects: stand-ins for dialects with which MLIR's parser can read their text: stablehlo, chlo, mhlo, sdy and tensor, and those that
// surround tensor in files (linalg, bufferization, ...).
#pragma once

namespace mlir {
class DialectRegistry;
class MLIRContext;
}  // namespace mlir

namespace strew::inline v0 {

/// Loads the shim dialects. Operations of these dialects then parse as unregistered operations, in the generic form and in the pretty form,
/// whose attributes get the names of the generic form if the operation is one that is read. Attributes `#stablehlo...` become OpaqueAttr.
void load_shim_dialects(mlir::MLIRContext& context);

/// Adds the dialects that stand around those that are read. The parser loads each at its first operation.
void register_boundary_dialects(mlir::DialectRegistry& registry);

}  // namespace strew::inline v0
