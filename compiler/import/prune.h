// What is done to a combiner's graph before it enters an Op.
#pragma once

#include "compiler/op/expr.h"

namespace strew {

/// `expr` without the nodes no result needs.
Expr pruned(const Expr& expr);

}  // namespace strew
