// Translates a combiner region of scalar operations to an expression graph.
#pragma once

#include <mlir/IR/Region.h>

#include <string_view>
#include <vector>

#include "strew/expr.h"
#include "strew/status.h"

namespace strew::inline v0 {

class Translation;

/// The block of the operation's only region, called `name`, which must have so many arguments (a rule with the label, if it has one).
Expected<mlir::Block*> only_block(mlir::Operation* op, std::string_view name, size_t arguments, std::string_view label = {});

/// The graph of `region`, whose block has 2N rank-0 arguments: N current values, then N updates, all of dtypes `elements`. The graph reads
/// updates in their own dtypes `updates` and converts them if those differ. Error messages start with the location.
Expected<Expr> region_to_expr(Translation& t, mlir::Region& region, const std::vector<DType>& elements,
                              const std::vector<DType>& updates);

}  // namespace strew::inline v0
