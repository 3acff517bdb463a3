// Which units of a PartGraph are one part.
#pragma once

#include <vector>

#include "compiler/program/partition/graph.h"

namespace strew::inline v0 {

/// The units of each part, ascending; the parts are ordered so that each follows those that it reads, directly or not. `join`: as of PartitionOptions.
std::vector<std::vector<int>> merge_units(const PartGraph& graph, bool join);

}  // namespace strew::inline v0
