// Window: emits what one index position does. The pointers of the indexed tensors move by the placed components
// (index.h), the window loops are emitted with the bounds that the policy and the strategy set, and the innermost of
// them is the lane loop (backends/llvm/compute/body.h). Tested by tests/differential.
#pragma once

#include "backends/llvm/address/index.h"
#include "backends/llvm/compute/body.h"

namespace strew::inline v0 {

using lowered::WindowCut;

/// Calls `body` to emit the iterations [lo, hi) of window loop `level` at a position: all iterations, or those in bounds. If the loop's dim
/// wraps, the emitted code runs twice: for the iterations up to the dim's end, and for those that start over at 0. body's p: pointers at
/// iteration 0 of the loop. `placement` null: the policy cuts nothing.
void for_segments(Frame& frame, const Placement* placement, const Pointers& p, size_t level, WindowCut cut,
                  llvm::function_ref<void(const Pointers& p, llvm::Value* lo, llvm::Value* hi)> body);

/// Emits the work for one window that the policy keeps. body: what is done, which look-ups that fill change; p: pointers at the window's first element;
/// `placement` and the entry's cut say which part is done.
using WindowBody = llvm::function_ref<void(const lowered::Body& body, const Pointers& p, const Placement* placement)>;

/// Emits everything that one position of an entry does: places the windows, applies the policy, does the window, fills. p: pointers at the position,
/// before the components move them. `body` emits the window; empty: loops of the plan are emitted.
void emit_window(Frame& frame, const Pointers& p, WindowBody body = {});

/// Emits the whole window without a policy. p: pointers at its first element.
void emit_whole_window(Frame& frame, const Pointers& p);

/// Emits the whole window of a position whose destination is known. p: pointers at the position, those of the results at the destination; look-ups are
/// placed here. `body` emits the window; empty: loops of the plan are emitted.
void emit_listed_window(Frame& frame, const Pointers& p, WindowBody body = {});

/// Prefetches the first lines of the row of `tensor` that its source places at a position, before the policy. p: pointers at the position.
void prefetch_placed(Frame& frame, const Pointers& p, int tensor, bool write);
/// The same of every table of a look-up that has rows.
void prefetch_lookups(Frame& frame, const Pointers& p);

/// Prefetches the first lines of the row of `tensor` that begins at `address`, of those that the entry's cut leaves. A prefetch never faults, whatever
/// the address.
void prefetch_row(Frame& frame, int tensor, llvm::Value* address, bool write);

}  // namespace strew::inline v0
