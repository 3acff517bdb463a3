// Which parts of a module of StableHLO strew runs in XLA's place (splice.h): those that have XLA's bits, and that XLA:CPU would not have run better as part
// of something else. What XLA:CPU does is in graph.h (what it fuses), exact.h (its bits), and kThresholds (policy.cc). Tested by
// tests/unit/compiler/splice/policy_test.cc.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "strew/import.h"
#include "strew/partition.h"
#include "strew/splice.h"

namespace strew::inline v0 {

/// How a module is imported whose parts choose_parts() chooses: what may become part of a kernel is left to exact.h.
ImportOptions import_options(const SpliceOptions& options);

struct ChosenPart {
  Part part;
  /// Output number, input number of the part: the output is the input with some elements written, has its type, and nothing else in the part reads the
  /// input. So the output may have the input's memory.
  std::vector<std::pair<int, int>> in_place;
};

struct Chosen {
  std::vector<ChosenPart> parts;
  std::vector<KeptOperation> kept;  ///< the indexed operations that are in no part, in the module's order
};

/// Why the indexed operation of this node (a number in Program::nodes(); -1: the kernel has none) stays XLA's because of where it stands; empty: it need not.
using PlaceRefusal = std::function<std::string(int node)>;

/// `program`: imported with import_options(). `refusal`: none if nothing stays for that reason.
Expected<Chosen> choose_parts(const Program& program, const SpliceOptions& options, const PlaceRefusal& refusal = {});

}  // namespace strew::inline v0
