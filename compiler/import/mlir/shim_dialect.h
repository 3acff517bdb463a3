// Shim dialects: just enough of stablehlo, chlo, mhlo and tensor for MLIR's parser to read their text.
#pragma once

namespace mlir {
class MLIRContext;
}

namespace strew {

/// After this, operations of these dialects parse in the generic form and (stablehlo, chlo, tensor.gather, tensor.scatter) in the
/// pretty form as unregistered operations whose attributes have the names of the generic form. Attributes `#stablehlo...` become OpaqueAttr.
/// Pretty mhlo operations are refused with advice.
void load_shim_dialects(mlir::MLIRContext& context);

}  // namespace strew
