// The subgraphs that an operator runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/import/tflite/graph.h"

namespace strew::inline v0::tflite {

struct Region {
  int32_t subgraph = 0;      ///< its number; never the main graph's
  std::string role;          ///< "body"
  bool is_function = false;  ///< of two or more elements (a reduction, a comparison): it has no kernels
};
/// Fails if a number names no subgraph.
Expected<std::vector<Region>> regions_of(const Node& node);

}  // namespace strew::inline v0::tflite
