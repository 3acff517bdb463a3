// order_expression: brings the nodes of an expression into post-order from the results, merges equal nodes and drops
// unused ones, so that an expression has one text however it was built. Graphs of named combiners are left alone: they
// have one order already.
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {
/// Returns whether the op changed.
bool order_expression(Op& op);
/// `expr` with its nodes in that order.
Expr ordered(const Expr& expr);
}  // namespace strew::inline v0
