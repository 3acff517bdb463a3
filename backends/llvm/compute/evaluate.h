// evaluate: an expression graph over `lanes` elements at once, from loads to stores.
#pragma once

#include "backends/llvm/compute/body.h"

namespace strew {

/// Loads every input of the graph at p (tensors listed in `splats` as one element for all lanes), evaluates, stores the results
/// and returns what it stored.
std::vector<llvm::Value*> evaluate(Frame& frame, const Body& body, const Pointers& p, int lanes, const std::vector<bool>& splats);

}  // namespace strew
