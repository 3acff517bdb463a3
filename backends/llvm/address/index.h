// Index components at one position: read, normalised, and turned by the out-of-bounds policy into a start per component and, where the
// policy cuts windows (skip_element, wrap, fill_element), into bounds of the window loops.
#pragma once

#include <vector>

#include "backends/llvm/address/frame.h"

namespace strew {

struct ComponentPlace {
  llvm::Value* start = nullptr;  ///< i64, operand coordinate of window position 0; may be negative under skip_element
  llvm::Value* lo = nullptr;     ///< window positions [lo, hi) are inside (skip_element, fill_element)
  llvm::Value* hi = nullptr;
  llvm::Value* split = nullptr;  ///< wrap: positions from here on stand one dim lower
};

struct Placement {
  std::vector<ComponentPlace> components;
  llvm::Value* inside = nullptr;  ///< i1: some element of the window is to be touched
  llvm::Value* whole = nullptr;   ///< i1: all of them are (fill_element)
};

/// p: pointers at the position.
Placement place(Frame& frame, const Pointers& p);

/// How many positions place_lanes() does at once.
inline constexpr int kIndexLanes = 8;
/// Can the index vectors of the innermost position loop be read and placed so? 32- and 64-bit signed indices (not 64-bit ones that wrap) side by
/// side, static dims of up to 2^30, a scatter's results not moved by that loop, and a target whose vectors are up to it.
bool has_index_lanes(const Frame& frame);
/// Walks positions [lo, hi) of a row: `eight` for kIndexLanes at once, with the first, and `one` for each that is left over.
void loop_by_lanes(Frame& frame, llvm::Value* lo, llvm::Value* hi, llvm::function_ref<void(llvm::Value* first)> eight,
                   llvm::function_ref<void(llvm::Value* i)> one);
/// place() of kIndexLanes consecutive positions, p at the first: starts are vectors of i32 or i64, as wide as the index; `inside` and `whole`
/// are vectors of i1, or null where always true. Not for windows that the policy cuts.
Placement place_lanes(Frame& frame, const Pointers& p);

/// Component k as the user gave it, sign- or zero-extended to i64 (u64: its bits).
llvm::Value* load_component(Frame& frame, const Pointers& p, size_t k);
/// Largest legal start: dim - window. Negative when nothing fits.
llvm::Value* largest_start(Frame& frame, const Component& component);
/// i1: out of bounds under policy error, after normalisation.
llvm::Value* is_bad(Frame& frame, const Component& component, llvm::Value* value);

}  // namespace strew
