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
  if (const Expr& e = op_.expr; !e.results.empty() && static_cast<size_t>(e.results[0]) < e.nodes.size())
    result.dtype = e.result().dtype;
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
