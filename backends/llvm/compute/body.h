// Body: what happens to the elements of one run: load them, evaluate an expression graph, store the results; or move bytes only.
//
// A run is the innermost loop of a nest. If all its tensors have stride 1 (inputs also 0: the same element for all lanes), it becomes vector
// code, else a scalar loop. Tested by tests/differential (row lengths 1..70 and more) and tests/golden/machine_code_test.cc.
#pragma once

#include <vector>

#include "backends/llvm/address/frame.h"

namespace strew::inline v0 {

/// An expression graph, and the tensors (numbers of the plan) that its inputs are loaded from and its results stored to.
struct Body {
  const Expr* expr = nullptr;
  std::vector<int> results, currents, updates, extras;
  /// The graph only copies bytes: results[i] = updates[i] or, without updates, currents[i].
  bool move = false;
  /// Runs are long: they are moved by memcpy, and no code is made for short ones.
  bool bulk = false;
  /// If set, every `current` node is this value instead of a load: a gather's fill value.
  const Scalar* current = nullptr;
  /// If set, the `current` node of result 0 is this value, in its storage form, instead of a load (register_run.h).
  llvm::Value* current_in_register = nullptr;
};

/// The body for the plan's windows. `fill`: for windows of a gather that the policy fills; the gathered element is the fill value.
Body range_body(const Plan& plan, bool fill);

/// Emits iterations [lo, hi) of `loop`; null: the run is one element. p: pointers at iteration 0.
void emit_run(Frame& frame, const Body& body, const Pointers& p, const Loop* loop, llvm::Value* lo, llvm::Value* hi);

}  // namespace strew::inline v0
