// Shim dialects: just enough of stablehlo, chlo and mhlo for MLIR's parser to read their text.
#pragma once

namespace mlir {
class MLIRContext;
}

namespace strew {

/// After this, operations of the three dialects parse in the generic form and (stablehlo, chlo) in the pretty form as
/// unregistered operations whose attributes have the names of the generic form. Attributes `#stablehlo...` become OpaqueAttr.
/// Pretty mhlo operations are refused with advice.
void load_shim_dialects(mlir::MLIRContext& context);

}  // namespace strew
