// lower_numeric(): an expression graph in the operations of primitives.def. Everything that docs/semantics.md section 4 says of arithmetic is
// stated here for all backends that generate code: narrow floats, saturation, guards of divisions and shifts, NaN and -0. compiler/evaluate
// computes the same from the unlowered graph, independently; tests/unit/backends/lower compares the two.
#pragma once

#include "backends/lower/graph.h"
#include "strew/export.h"

namespace strew::inline v0 {

/// `expr` is verified. Compounds that the target has stay nodes.
STREW_API lowered::Graph lower_numeric(const Expr& expr, lowered::Natives natives);

/// Must the results of operators in this dtype be rounded, because they are computed in a wider type?
inline bool rounds_after(DType dtype) { return is_float(dtype) && bits(dtype) <= 16; }

}  // namespace strew::inline v0
