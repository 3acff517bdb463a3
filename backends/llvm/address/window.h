// The window nest at one index position: offsets by the placed components, bounds where the policy cuts, the run innermost.
#pragma once

#include "backends/llvm/address/index.h"
#include "backends/llvm/compute/body.h"

namespace strew {

/// What of a window is done.
enum class WindowCut : uint8_t {
  none,     ///< all of it
  columns,  ///< [w0, w1) of the first loop
  owned,    ///< and of that only what falls into [k0, k1) of the operand dim that moves the loop
};

/// Entry range's.
inline WindowCut cut_of(const Schedule& schedule) {
  return schedule.strategy == Strategy::window ? WindowCut::columns : WindowCut::none;
}

/// The iterations of window loop `level` that exist at a position: all of them, those inside, or, wrapped, one range below the dim's end
/// and one that starts over, each with p where iteration 0 stands. `placement` null: nothing is cut.
void for_segments(Frame& frame, const Placement* placement, const Pointers& p, size_t level, WindowCut cut,
                  llvm::function_ref<void(const Pointers& p, llvm::Value* lo, llvm::Value* hi)> body);

/// One window whose policy keeps it, p at its first element, of which `placement` and `cut` say what is done.
using WindowBody = llvm::function_ref<void(const Pointers& p, const Placement& placement, WindowCut cut)>;

/// Everything one position does: policy, window, fills. p: pointers at the position, before the components move them. The window is
/// `body`'s, or, where that is empty, emitted here.
void emit_window(Frame& frame, const Pointers& p, WindowCut cut = WindowCut::none, WindowBody body = {});

/// The window alone, uncut, with every pointer already at its first element.
void emit_whole_window(Frame& frame, const Pointers& p);

}  // namespace strew
