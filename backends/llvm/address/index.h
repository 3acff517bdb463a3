// Index sources: loads the components of a position's index vector, normalises them, and applies the out-of-bounds policy. The result is a
// start coordinate per component and, under policies that cut windows (skip_element, fill_element, wrap), bounds for the window loops.
// Tested by tests/differential with indices at the extremes of every index type.
#pragma once

#include <vector>

#include "backends/llvm/address/frame.h"
#include "backends/lower/walk.h"

namespace strew::inline v0 {

/// Where one component puts the window in its operand dim.
struct ComponentPlace {
  llvm::Value* start = nullptr;  ///< i64, the operand coordinate of window coordinate 0; may be negative under skip_element
  llvm::Value* lo = nullptr;     ///< skip_element, fill_element: window coordinates [lo, hi) are in bounds
  llvm::Value* hi = nullptr;
  llvm::Value* split = nullptr;  ///< wrap: window coordinates from here on lie past the dim's end and start over at 0
};

/// Where one source puts the window of a position.
struct Placement {
  const IndexSource& source;
  const lowered::Placing& placing;
  std::vector<ComponentPlace> components = {};
  llvm::Value* inside = nullptr;  ///< i1: the policy keeps some element of the window
  llvm::Value* whole = nullptr;   ///< i1, fill_element: all elements of the window are in bounds
};

/// Emits the placement of one position by source number `source`. p: pointers at that position.
Placement place(Frame& frame, size_t source, const Pointers& p);

/// p, pointers at a position, with those of the tensors that the source places moved to its window.
Pointers moved(Frame& frame, const Pointers& p, const Placement& placement);

/// place() for lowered::kIndexLanes consecutive positions; p: pointers at the first. Starts are vectors of i32 or i64, as wide as the index; `inside`
/// and `whole` are vectors of i1, or null where always true. Limit: not for windows that the policy cuts.
/// The primary source's.
Placement place_lanes(Frame& frame, const Pointers& p);

/// i1: have `count` consecutive positions along the innermost position loop, the first of which is at p, the same index? The op has one component, whose
/// indices lie side by side.
llvm::Value* has_equal_indices(Frame& frame, const Pointers& p, int count);

/// Loads the component as it stands in memory, sign- or zero-extended to i64 (u64: the same bits).
llvm::Value* load_component(Frame& frame, const Pointers& p, const Component& component);
/// The largest start that is in bounds: dim - window. Negative if the window does not fit the dim.
llvm::Value* largest_start(Frame& frame, const Component& component);
/// i1: is the component `value` out of bounds after normalisation? That is a fault under policy error.
llvm::Value* is_bad(Frame& frame, const Component& component, llvm::Value* value);

}  // namespace strew::inline v0
