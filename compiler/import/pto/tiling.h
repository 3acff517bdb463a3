// Tiling: which part of a dimension all iterations of all cores cover together.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/import/pto/scalar.h"

namespace strew::pto {

/// A loop as all cores run it together: its variable takes each multiple of `step` below `limit` once.
struct Loop {
  SymbolId variable = -1;
  int64_t step = 1;
  Poly limit;
  bool over_cores = false;  ///< the values are spread over cores, so nothing orders them
  Position at;
};

/// The loop that lower, upper and step describe, or why it is none of: all in one core; tile by tile in turn (from block_idx * step on, by
/// block_num * step); one piece per core.
Expected<Loop> recognise_loop(Scalars& scalars, SymbolId variable, const Poly& lower, const Poly& upper, const Poly& step,
                              Position at);

/// A tile's place along one dim.
struct Slot {
  Poly offset, size;
};

/// Something the program leaves to its caller: `value` is a multiple of `divisor`.
struct Multiple {
  Poly value;
  int64_t divisor = 1;
};

/// What the tiles of a Slot cover together: [begin, begin + extent), each element once.
struct Span {
  Poly begin, extent;
  std::vector<size_t> loops;  ///< which loops it takes, the one that moves the tile least first
  std::vector<Multiple> multiples;
};

Expected<Span> cover(Scalars& scalars, const Slot& slot, const std::vector<Loop>& loops);

}  // namespace strew::pto
