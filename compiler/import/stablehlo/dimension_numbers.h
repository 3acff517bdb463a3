// #stablehlo.scatter<...> and #stablehlo.gather<...>, which the parser hands to the stablehlo shim.
#pragma once

#include <mlir/IR/DialectImplementation.h>

#include "strew/op.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Is `text`, which follows "#stablehlo.", that of dimension numbers?
bool holds_dimension_numbers(llvm::StringRef text);
/// Parses them to a dictionary from the kind, "scatter", "gather" or "dot", to the dictionary of the numbers. Null, with a message, if they are malformed.
mlir::Attribute parse_dimension_numbers(mlir::DialectAsmParser& parser);

Expected<DimensionNumbers> scatter_dims_from(mlir::Attribute attribute);
Expected<DimensionNumbers> gather_dims_from(mlir::Attribute attribute);

}  // namespace strew::inline v0
