// Shim dialects: stand-ins for stablehlo, chlo, mhlo and tensor with which MLIR's parser can read their text.
#pragma once

namespace mlir {
class MLIRContext;
}

namespace strew::inline v0 {

/// Loads the shim dialects. Operations of these dialects then parse as unregistered operations: in the generic form, and for stablehlo,
/// chlo, tensor.gather and tensor.scatter also in the pretty form, whose attributes get the names of the generic form. Attributes
/// `#stablehlo...` become OpaqueAttr. Pretty mhlo operations are refused with advice (kMhloAdvice).
void load_shim_dialects(mlir::MLIRContext& context);

}  // namespace strew::inline v0
