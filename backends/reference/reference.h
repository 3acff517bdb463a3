// run_reference(): evaluates docs/semantics.md directly on the Op, simply and slowly. It shares only the number formats
// and the table of transcendental functions with the planner and the code generators, so a bug of theirs shows as a
// difference from the reference. Tested by tests/unit/backends/reference/reference_scatter_test.cc and
// tests/unit/backends/reference/reference_gather_test.cc.
#pragma once

#include <span>

#include "strew/bad_index.h"
#include "strew/export.h"
#include "strew/status.h"
#include "strew/tensor_view.h"
#include "strew/verified.h"

namespace strew::inline v0 {

/// Runs the op on `tensors`, which stand in the order of tensor_slots(op) and whose dims replace every kDynamic of the
/// op. Policy `error`: if an index is out of bounds, writes nothing, fills `bad_index` unless it is null, and returns
/// Code::out_of_bounds. The views are not checked here: runtime/call/bind has done that.
STREW_API Status run_reference(const VerifiedOp& op, std::span<const TensorView> tensors, BadIndex* bad_index = nullptr);

}  // namespace strew::inline v0
