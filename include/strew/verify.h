// verify(): every constraint an op must hold before anything is planned or compiled.
//
// Each error starts with the constraint's label (StableHLO's scatter_c1..c25, gather_c1..c23, or strew's own, named in
// docs/op_text.md), then names the field, its value and what was expected. An op that verifies can be planned and run by the
// reference: later stages do not check again.
#pragma once

#include "strew/export.h"
#include "strew/op.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct VerifyOptions {
  /// StableHLO's C18 / C17: an indices batching dim equals the operand's. Off: it may be smaller (ONNX ScatterElements).
  bool equal_batching_dims = false;
};

STREW_API Status verify(const Op& op, const VerifyOptions& options = {});
STREW_API Status verify(const Scatter& scatter, const VerifyOptions& options = {});
STREW_API Status verify(const Gather& gather, const VerifyOptions& options = {});
/// Types and references of an expression graph on its own.
STREW_API Status verify(const Expr& expr, int currents, int updates, int extras);

}  // namespace strew::inline v0
