// Shim dialects: stand-ins for dialects with which MLIR's parser can read their text: stablehlo, chlo, mhlo, sdy and tensor, and those that
// surround them in files (linalg, bufferization, ...).
#pragma once

#include <set>
#include <string>

namespace mlir {
class DialectRegistry;
class MLIRContext;
}  // namespace mlir

namespace strew::inline v0 {

/// Loads the shim dialects. Operations of these dialects then parse as unregistered operations, in the generic form and in the pretty form,
/// whose attributes get the names of the generic form if the operation is one that is read. Attributes `#stablehlo...` become OpaqueAttr.
void load_shim_dialects(mlir::MLIRContext& context);

/// Adds a shim for each of `dialects` that is neither loaded nor in the registry, none of whose operations is read. The parser loads each at its
/// first operation.
void register_boundary_dialects(const std::set<std::string>& dialects, mlir::MLIRContext& context,
                                mlir::DialectRegistry& registry);

}  // namespace strew::inline v0
