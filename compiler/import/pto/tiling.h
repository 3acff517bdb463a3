// Tiling: finds which part of a dimension all iterations on all cores cover together.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/pto/scalar.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// A loop as all cores together run it: its variable takes each multiple of `step` below `limit` once.
struct Loop {
  SymbolId variable = -1;
  int64_t step = 1;
  Poly limit;
  bool over_cores = false;  ///< the iterations are spread over cores, so nothing orders them
  Position at;
};

/// Recognises three forms of loop: all iterations in one core; tiles assigned to cores in turn (from block_idx * step on, by block_num *
/// step); one contiguous piece per core. Fails with the reason if lower, upper and step describe none of them.
Expected<Loop> recognise_loop(Scalars& scalars, SymbolId variable, const Poly& lower, const Poly& upper, const Poly& step,
                              Position at);

/// The place of a tile along one dim.
struct Slot {
  Poly offset, size;
};

/// A requirement on the caller's values: `value` must be a multiple of `divisor`.
struct Multiple {
  Poly value;
  int64_t divisor = 1;
};

/// What the tiles of a Slot cover in all iterations: [begin, begin + extent), each element once.
struct Span {
  Poly begin, extent;
  std::vector<size_t> loops;  ///< numbers of the loops that move the tile, the one that moves it least first
  std::vector<Multiple> multiples;
};

Expected<Span> cover(Scalars& scalars, const Slot& slot, const std::vector<Loop>& loops);

}  // namespace strew::inline v0::pto
