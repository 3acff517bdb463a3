// Window: emits what one index position does. The pointers of the indexed tensors move by the placed components
// (index.h), the window loops are emitted with the bounds that the policy and the strategy set, and the innermost of
// them is the lane loop (backends/llvm/compute/body.h). Tested by tests/differential.
#pragma once

#include "backends/llvm/address/index.h"
#include "backends/llvm/compute/body.h"

namespace strew::inline v0 {

using lowered::WindowCut;

/// i1 per look-up of Kernel::fills: the table has what is done; else the look-up gives its fill value.
using Found = llvm::SmallVector<llvm::Value*, 2>;

/// Where the sources put the window of a position.
struct Placements {
  /// Emits the placements of the sources from number `first` on. p: pointers at the position.
  Placements(Frame& frame, const Pointers& p, size_t first);
  /// p, with the pointers of what is placed moved to the window.
  Pointers moved(Frame& frame, const Pointers& p) const;
  const Placement* primary() const { return first == 0 && !all.empty() ? all.data() : nullptr; }

  size_t first;
  std::vector<Placement> all;     ///< of the sources from number `first` on
  llvm::Value* inside = nullptr;  ///< i1: no policy drops the position
  llvm::Value* whole = nullptr;   ///< i1: the primary source's
  Found found;                    ///< of the window: an element of it, where the look-up's policy cuts windows
};

/// Calls `body` to emit the iterations [lo, hi) of window loop `level` at a position: all iterations, or those in bounds. If the loop's dim
/// wraps, the emitted code runs twice: for the iterations up to the dim's end, and for those that start over at 0. If a look-up fills what its table
/// has not, it runs three times: before, in and after the table. body's p: pointers at iteration 0 of the loop; its `found` and the one given: what
/// holds for all these iterations, and for those of the loops outside. `placements` null: no policy cuts anything.
void for_segments(Frame& frame, const Placements* placements, const Pointers& p, const Found& found, size_t level, WindowCut cut,
                  llvm::function_ref<void(const Pointers& p, const Found& found, llvm::Value* lo, llvm::Value* hi)> body);

/// Emits the work for one window that the policy keeps. body: what is done, which look-ups that fill change; p: pointers at the window's first element;
/// `placements` and the entry's cut say which part is done. Windows of which a look-up fills a part are for the loops of the plan only.
using WindowBody = llvm::function_ref<void(const lowered::Body& body, const Pointers& p, const Placements& placements)>;

/// Emits everything that one position of an entry does: places the windows, applies the policy, does the window, fills. p: pointers at the position,
/// before the components move them. `body` emits the window; empty: loops of the plan are emitted.
void emit_window(Frame& frame, const Pointers& p, WindowBody body = {});

/// The addresses of the elements that stand for those which the policy drops (Walk::sinks), a vector of so many: of a scatter elements on the call's stack, which are zero at first, and no
/// result depends on them; of a gather, all of the same copy of the fill value.
llvm::Value* sinks_of_lanes(Frame& frame, int lanes);

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
