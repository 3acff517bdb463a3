// evaluate: translates an expression graph to Halide expressions, in which every node is rounded to its own dtype. Tested by tests/differential.
#pragma once

#include <functional>
#include <vector>

#include "backends/halide/numeric.h"

namespace strew::inline v0 {

/// Returns the storage forms (numeric.h) of the graph's results. `load` gives the storage form of an input node.
std::vector<Parts> evaluate(const HalideNumeric& numeric, const Expr& graph, const std::function<Parts(const ExprNode&)>& load);

}  // namespace strew::inline v0
