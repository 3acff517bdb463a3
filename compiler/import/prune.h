// What is done to a combiner's graph before it enters an Op.
#pragma once

#include "compiler/op/expr.h"
#include "compiler/op/op.h"

namespace strew {

/// `expr` without the nodes no result needs.
Expr pruned(const Expr& expr);

/// The named combiner `expr` stands for on every pair (current op update, either way round where op commutes), else kind expr.
Combiner recognised(Expr expr);

}  // namespace strew
