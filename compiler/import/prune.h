// Removes unused nodes from an expression graph before the graph enters an Op.
#pragma once

#include "strew/expr.h"

namespace strew {

/// `expr` without the nodes that no result needs.
Expr pruned(const Expr& expr);

}  // namespace strew
