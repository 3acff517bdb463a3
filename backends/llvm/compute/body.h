// Emits what happens to the elements of one lane loop (lowered::Body): its row-local values, then for each element the loads, the expression and the
// stores; or moves of bytes only.
//
// The lane loop is the innermost loop of a nest. If all its tensors have stride 1 (inputs also 0: the same element for all lanes), it becomes vector
// code, else a scalar loop. Tested by tests/differential (row lengths 1..70 and more) and tests/golden/machine_code_test.cc.
#pragma once

#include <vector>

#include "backends/llvm/address/frame.h"
#include "backends/lower/vector_code.h"

namespace strew::inline v0 {

/// Emits iterations [lo, hi) of `loop`; null: there is one element. p: pointers at iteration 0.
void emit_lane_loop(Frame& frame, const lowered::Body& body, const Pointers& p, const Loop* loop, llvm::Value* lo,
                    llvm::Value* hi);

/// Emits the update of a part of the row along `loop`, at p, of which result 0 holds `current` (in its storage form). Returns what the result holds
/// then; nothing is stored.
llvm::Value* emit_row_part(Frame& frame, const lowered::Body& body, const Pointers& p, const Loop& loop,
                           const lowered::RowPart& part, llvm::Value* current);

/// Emits the graph of the body for `lanes` elements along `loop`, the first of which is at p, and returns the results, which are not stored. `loaded`: per
/// tensor, its elements, where they are known.
std::vector<llvm::Value*> emit_lanes(Frame& frame, const lowered::Body& body, const lowered::Graph& graph, const Pointers& p,
                                     const Loop& loop, int lanes, llvm::ArrayRef<llvm::Value*> loaded);

/// Emits a graph of one input and one result, both in their storage form.
llvm::Value* emit_graph(Frame& frame, const Expr& graph, llvm::Value* input, int lanes);

/// Emits the update of one element, at p, whose result 0 holds `current` (in its storage form) already, so that it is not loaded. Returns what is
/// stored there.
llvm::Value* emit_element(Frame& frame, const lowered::Body& body, const Pointers& p, llvm::Value* current);

}  // namespace strew::inline v0
