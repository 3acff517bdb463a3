// Removes unused nodes from an expression graph before the graph enters an Op.
#pragma once

#include "strew/export.h"
#include "strew/expr.h"

namespace strew::inline v0 {

/// `expr` without the nodes that no result needs.
STREW_API Expr pruned(const Expr& expr);

}  // namespace strew::inline v0
