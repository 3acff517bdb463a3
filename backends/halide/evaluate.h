// evaluate: an expression graph as Halide expressions, every node rounded to its own dtype.
#pragma once

#include <functional>
#include <vector>

#include "backends/halide/numeric.h"

namespace strew {

/// Storage forms of the graph's results. `load`: the storage form of an input node.
std::vector<Parts> evaluate(const HalideNumeric& numeric, const Expr& graph, const std::function<Parts(const ExprNode&)>& load);

}  // namespace strew
