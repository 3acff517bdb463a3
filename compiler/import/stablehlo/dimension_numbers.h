// Parses the body of #stablehlo.scatter<...> and #stablehlo.gather<...>. MLIR's parser keeps it as text, since the StableHLO dialect is not
// loaded.
#pragma once

#include <mlir/IR/Attributes.h>

#include "strew/op.h"
#include "strew/status.h"

namespace strew::inline v0 {

Expected<DimensionNumbers> scatter_dims_from(mlir::Attribute attribute);
Expected<DimensionNumbers> gather_dims_from(mlir::Attribute attribute);

}  // namespace strew::inline v0
