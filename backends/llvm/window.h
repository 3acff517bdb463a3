// The window nest at one index position: offsets by the placed components, bounds where the policy cuts, the run innermost.
#pragma once

#include "backends/llvm/body.h"
#include "backends/llvm/index.h"

namespace strew {

/// The iterations of window loop `level` that exist at a position: all of them, those inside, or, wrapped, one range below the dim's end
/// and one that starts over, each with p where iteration 0 stands. `placement` null: nothing is cut.
void for_segments(Frame& frame, const Placement* placement, const Pointers& p, size_t level,
                  llvm::function_ref<void(const Pointers& p, llvm::Value* lo, llvm::Value* hi)> body);

/// Everything one position does: policy, window, fills. p: pointers at the position, before the components move them.
void emit_window(Frame& frame, const Pointers& p);

/// The window alone, uncut, with every pointer already at its first element.
void emit_whole_window(Frame& frame, const Pointers& p);

}  // namespace strew
