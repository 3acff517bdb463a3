// See builder.h. build() completes the op (results that were left out) and verifies it. Tested by tests/unit/compiler/op/builder_test.cc.
#include "strew/builder.h"

#include <algorithm>
#include <utility>

#include "compiler/op/access_dims.h"

namespace strew::inline v0 {

ScatterBuilder& ScatterBuilder::look_up(Role role, int index, const GatherBuilder& gather) {
  if (!gather.failure_.ok()) return fail(gather.failure_);
  Lookup& lookup = op_.lookups.emplace_back(Lookup{role, index, gather.op_});
  if (!gather.has_result_) lookup.gather.result = gather.derived_result();
  return *this;
}

Expected<Scatter> ScatterBuilder::build(const VerifyOptions& options) const {
  if (!failure_.ok()) return failure_;
  Scatter op = op_;
  std::ranges::stable_sort(op.lookups, {}, [](const Lookup& each) { return std::pair(each.of, each.index); });
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
