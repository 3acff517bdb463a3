// Body: what happens to one run of elements: load, evaluate the expression graph, store; or just move bytes.
//
// A run is the innermost loop of a nest. Where all its tensors have unit stride (inputs may also have stride 0, a splat) it becomes
// vector code, straight-line for short constant lengths; otherwise a scalar loop.
#pragma once

#include <vector>

#include "backends/llvm/address/frame.h"

namespace strew {

/// An expression graph and where its inputs and results live (tensor numbers of the plan).
struct Body {
  const Expr* expr = nullptr;
  std::vector<int> results, currents, updates, extras;
  bool move = false;                           ///< results[i] = updates[i] (or currents[i]) as bytes
  bool bulk = false;                           ///< runs are long: always memcpy, no code for short ones
  const Scalar* current = nullptr;             ///< if set, every `current` is this value instead of a load (gather's fill)
  llvm::Value* current_in_register = nullptr;  ///< if set, `current` 0 is this one, in its storage form (run combining)
};

/// The body of the plan's range entry; with `fill`, of a gather whose element is the fill value.
Body range_body(const Plan& plan, bool fill);

/// Runs iterations [lo, hi) of `loop` (null: exactly one element) with p at iteration 0.
void emit_run(Frame& frame, const Body& body, const Pointers& p, const Loop* loop, llvm::Value* lo, llvm::Value* hi);

}  // namespace strew
