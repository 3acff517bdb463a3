// The reference backend: semantics.md evaluated directly on the Op, slowly and obviously. It shares nothing with the plan or the
// code generators but the number formats and the table of transcendental functions, so that a bug of theirs cannot hide here.
#pragma once

#include <span>

#include "strew/abi.h"
#include "strew/export.h"
#include "strew/status.h"
#include "strew/tensor_view.h"
#include "strew/verified.h"

namespace strew::inline v0 {

/// Runs the op on views bound in tensor_slots(op) order, whose dims take the place of every kDynamic. Policy `error`: on a
/// bad index returns out_of_bounds, fills `fault` if given, and nothing is written. The views are trusted: runtime/call/bind checks
/// them.
STREW_API Status run_reference(const VerifiedOp& op, std::span<const TensorView> tensors, strew_fault* fault = nullptr);

}  // namespace strew::inline v0
