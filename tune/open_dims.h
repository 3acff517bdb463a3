// OpenDims: the extents of an op that only the call knows, in groups of which all must be the same. Tested by
// tests/unit/tune/workload_data_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "strew/verified.h"

namespace strew::inline v0 {

/// What an open extent is for, which decides what is invented for it. In the order in which extents are invented: how many rows there are
/// depends on how large a row is, and how many index positions on how many rows there are.
enum class OpenDimKind : uint8_t {
  batching,  ///< a batching dim
  whole,     ///< a dim of the indexed tensor that every window covers
  indexed,   ///< a dim of the indexed tensor in which an index moves the window
  window,    ///< of the window, in a dim of the indexed tensor that an index moves
  position,  ///< of the index positions
};

struct OpenDim {
  std::string name;   ///< the plan's symbol, "s0"; empty: the plan needs none for it
  std::string where;  ///< "dim 0 of operand"
  OpenDimKind kind = OpenDimKind::position;
  size_t source =
      0;  ///< whose indexed tensor has it, if one alone does: 0: the op's own, else the table of look-up number source - 1
  std::vector<int64_t*> extents;  ///< in the op that was given
};

/// The open extents of `op`, which must live as long as the result and be `verified`'s. Setting all `extents` of a group to one number
/// makes it static in the types of all tensors that the op names for itself; what look-ups make and slice sizes follow from those.
Expected<std::vector<OpenDim>> open_dims(Op& op, const VerifiedOp& verified);

}  // namespace strew::inline v0
