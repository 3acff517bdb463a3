// verify(): checks every constraint that an op must satisfy before it is planned or compiled. Later stages do not check again.
//
// Each error names the field, its value and what was expected, and ends with the label of the constraint in brackets:
// "[scatter_c4]". The labels are StableHLO's scatter_c1..c25 and gather_c1..c23, or strew's own, which docs/op_text.md
// lists. Dynamic extents and strides agree with everything here; a call checks them. Tested by
// tests/unit/compiler/op/verify_scatter_test.cc, verify_gather_test.cc and verify_expr_test.cc.
#pragma once

#include "strew/export.h"
#include "strew/op.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct VerifyOptions {
  /// On: an indices batching dim must equal the operand's, as StableHLO's C18 (scatter) and C17 (gather) say. Off: it
  /// may be smaller, as in ONNX ScatterElements.
  bool equal_batching_dims = false;
};

STREW_API Status verify(const Op& op, const VerifyOptions& options = {});
STREW_API Status verify(const Scatter& scatter, const VerifyOptions& options = {});
STREW_API Status verify(const Gather& gather, const VerifyOptions& options = {});
/// Checks a graph without an op: dtypes of the nodes, references to earlier nodes, and inputs, of which there are
/// `currents`, `updates` and `extras`.
STREW_API Status verify(const Expr& expr, int currents, int updates, int extras);

}  // namespace strew::inline v0
