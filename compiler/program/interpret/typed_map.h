// Typed loops for map, which are faster than evaluating the function element by element.
#pragma once

#include <vector>

#include "strew/expr.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

/// Computes `result` if `function` is a single node that has a typed loop. Returns false, with nothing written, if it is not.
bool map_typed(const Expr& function, const std::vector<const Tensor*>& arguments, Tensor& result);

}  // namespace strew::inline v0
