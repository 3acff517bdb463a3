// The typed loops of map.
#pragma once

#include <vector>

#include "compiler/op/expr.h"
#include "compiler/program/tensor.h"

namespace strew {

/// Computes `result` if `function` is one node with a typed loop; false (nothing written) if it is not.
bool map_typed(const Expr& function, const std::vector<const Tensor*>& arguments, Tensor& result);

}  // namespace strew
