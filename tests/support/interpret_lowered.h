// interpret(): what a lowered graph computes, primitive by primitive, of many elements at once. It reports arguments outside a primitive's domain,
// and nodes whose types the table of primitives does not admit.
#pragma once

#include <string>
#include <vector>

#include "backends/lower/graph.h"
#include "strew/scalar.h"

namespace strew::test {

struct Interpreted {
  std::vector<std::vector<Scalar>> results;  ///< per result, per element
  std::string wrong;  ///< the first node that is illegal, or whose arguments are outside its domain; else empty
};

/// inputs[i][k]: element k of the graph's input i. All have `count` elements.
Interpreted interpret(const lowered::Graph& graph, const std::vector<std::vector<Scalar>>& inputs, size_t count);

}  // namespace strew::test
