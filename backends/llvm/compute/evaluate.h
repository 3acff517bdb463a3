// evaluate: emits a lowered expression graph for one element, or for a vector of elements, from loads to stores. Tested by tests/differential.
#pragma once

#include "backends/llvm/compute/body.h"
#include "backends/lower/graph.h"

namespace strew::inline v0 {

/// Emits the loads of the graph's inputs at p, its nodes and the stores of its results, for `lanes` consecutive elements. `graph` is the body's
/// expression, lowered for frame.numeric. Of tensors marked in `splats` one element is loaded and used for all lanes. Returns the stored values.
std::vector<llvm::Value*> evaluate(Frame& frame, const Body& body, const lowered::Graph& graph, const Pointers& p, int lanes,
                                   const std::vector<bool>& splats);

}  // namespace strew::inline v0
