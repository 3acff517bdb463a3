// order_expression: the nodes of an expression in one order, each after its arguments as the results ask for them, equal ones once and those
// without use dropped; so that one expression has one text however it was built. The graph of a combiner's name stays as it is spelled.
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {
bool order_expression(Op& op);
/// The same, of an expression alone.
Expr ordered(const Expr& expr);
}  // namespace strew::inline v0
