// name_combiner: an expression that says what a combiner's name says becomes the graph of that name, node by node (that of assign and a
// gather's that only takes the element: none), so that a region of StableHLO and a named reduction share a kernel.
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {
bool name_combiner(Op& op);
}  // namespace strew::inline v0
