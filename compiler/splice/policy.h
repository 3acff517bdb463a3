// Which parts of a program become calls of strew inside XLA's.
#pragma once

#include <utility>
#include <vector>

#include "strew/partition.h"
#include "strew/program.h"
#include "strew/splice.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct ChosenPart {
  Part part;
  std::vector<std::pair<int, int>> in_place;  ///< output number, input number of the part: the output is written over the input
};

struct Chosen {
  std::vector<ChosenPart> parts;
  std::vector<KeptOperation> kept;
};

Expected<Chosen> choose_parts(const Program& program, const SpliceOptions& options);

}  // namespace strew::inline v0
