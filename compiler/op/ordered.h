// ordered(): one text for an expression however it was built, without nodes that no result needs.
#pragma once

#include "strew/export.h"
#include "strew/expr.h"

namespace strew::inline v0 {

/// `expr` with its nodes in post-order from the results. Equal nodes are merged, unused ones are dropped.
STREW_API Expr ordered(const Expr& expr);

}  // namespace strew::inline v0
