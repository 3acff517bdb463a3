// See builder.h. build() completes the op (results that were left out) and verifies it. Tested by tests/unit/compiler/op/builder_test.cc.
#include "strew/builder.h"

#include "compiler/op/access_dims.h"

namespace strew::inline v0 {

Expected<Scatter> ScatterBuilder::build(const VerifyOptions& options) const {
  if (!failure_.ok()) return failure_;
  Scatter op = op_;
  if (op.results.empty()) {
    op.results = op.operands;
    if (op.init != InitKind::in_place) {
      for (TensorType& result : op.results) result.strides.clear();
    }
  }
  STREW_TRY(verify(op, options));
  return op;
}

/// If the dimension numbers are wrong, so is the type, and verify() reports it.
TensorType GatherBuilder::derived_result() const {
  const AccessDims dims(op_);
  TensorType result{op_.operand.dtype, dims.slices_extents(dims.position_extents(op_.indices.dims), dims.window_extents()), {}};
  if (!op_.expr.empty() && !op_.expr.results.empty()) {
    const auto node = static_cast<size_t>(op_.expr.results[0]);
    if (node < op_.expr.nodes.size()) result.dtype = op_.expr.nodes[node].dtype;
  }
  return result;
}

Expected<Gather> GatherBuilder::build(const VerifyOptions& options) const {
  if (!failure_.ok()) return failure_;
  Gather op = op_;
  if (!has_result_) op.result = derived_result();
  STREW_TRY(verify(op, options));
  return op;
}

}  // namespace strew::inline v0
