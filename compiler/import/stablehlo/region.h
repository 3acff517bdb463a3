// Translates a combiner region of scalar operations to an expression graph.
#pragma once

#include <mlir/IR/Region.h>

#include <vector>

#include "strew/expr.h"
#include "strew/status.h"

namespace strew::inline v0 {

class Translation;

/// The graph of `region`, whose block has 2N rank-0 arguments: N current values, then N updates, all of dtypes `elements`. The graph reads
/// updates in their own dtypes `updates` and converts them if those differ. Error messages start with the location.
Expected<Expr> region_to_expr(Translation& t, mlir::Region& region, const std::vector<DType>& elements,
                              const std::vector<DType>& updates);

}  // namespace strew::inline v0
