// The window nest at one index position: offsets by the placed components, bounds where the policy cuts, the run innermost.
#pragma once

#include "backends/llvm/body.h"
#include "backends/llvm/index.h"

namespace strew {

/// Everything one position does: policy, window, fills. p: pointers at the position, before the components move them.
void emit_window(Frame& frame, const Pointers& p);

/// The window alone, uncut, with every pointer already at its first element.
void emit_whole_window(Frame& frame, const Pointers& p);

}  // namespace strew
