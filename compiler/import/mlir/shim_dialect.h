// Shim dialects: stand-ins for stablehlo, chlo, mhlo, sdy and tensor with which MLIR's parser can read their text.
#pragma once

namespace mlir {
class MLIRContext;
}

namespace strew::inline v0 {

/// Loads the shim dialects. Operations of these dialects then parse as unregistered operations: in the generic form, and, but for tensor
/// operations other than gather and scatter, in the pretty form, whose attributes get the names of the generic form. Attributes
/// `#stablehlo...` become OpaqueAttr.
void load_shim_dialects(mlir::MLIRContext& context);

}  // namespace strew::inline v0
