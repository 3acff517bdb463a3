// name_combiner: replaces a graph that computes the same as a named combiner by the graph that the name stands for (of
// assign, and of a gather that only moves the element: the empty graph). A combiner region of StableHLO and a named
// reduction of ONNX then share a kernel.
#pragma once

#include "strew/op.h"

namespace strew::inline v0 {
/// Returns whether the op changed.
bool name_combiner(Op& op);
}  // namespace strew::inline v0
