// See builder.h. build() completes the op (results that were left out, the graph of the combiner's name) and verifies
// it. ExprBuilder derives the dtypes of nodes. Tested by tests/unit/builder_test.cc.
#include "strew/builder.h"

#include "compiler/op/access_dims.h"
#include "compiler/op/combiner.h"

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
  if (combiner_ != CombinerKind::expr) op.combiner = spelled(op, combiner_);
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

int32_t ExprBuilder::push(ExprNode node) {
  nodes_.push_back(std::move(node));
  return static_cast<int32_t>(nodes_.size()) - 1;
}
int32_t ExprBuilder::current(int32_t index, DType dtype) { return push({ExprOp::current, dtype, {}, index, {}}); }
int32_t ExprBuilder::update(int32_t index, DType dtype) { return push({ExprOp::update, dtype, {}, index, {}}); }
int32_t ExprBuilder::extra(int32_t index, DType dtype) { return push({ExprOp::extra, dtype, {}, index, {}}); }
int32_t ExprBuilder::literal(const Scalar& value) { return push({ExprOp::literal, value.dtype, {}, 0, value}); }
int32_t ExprBuilder::convert(int32_t value, DType dtype) { return push({ExprOp::convert, dtype, {value}, 0, {}}); }
int32_t ExprBuilder::bitcast(int32_t value, DType dtype) { return push({ExprOp::bitcast, dtype, {value}, 0, {}}); }

int32_t ExprBuilder::apply(ExprOp op, std::vector<int32_t> args) {
  ExprNode node{op, DType::f32, std::move(args), 0, {}};
  const size_t from = op == ExprOp::select ? 1 : 0;
  if (node.args.size() > from) {
    const auto arg = static_cast<size_t>(node.args[from]);
    if (arg < nodes_.size()) node.dtype = nodes_[arg].dtype;
  }
  if (op >= ExprOp::is_finite && op <= ExprOp::ge) node.dtype = DType::boolean;
  if (op == ExprOp::real || op == ExprOp::imag) node.dtype = node.dtype == DType::complex64 ? DType::f32 : DType::f64;
  if (op == ExprOp::complex) node.dtype = node.dtype == DType::f32 ? DType::complex64 : DType::complex128;
  return push(std::move(node));
}

int32_t ExprBuilder::apply(ExprOp op, std::vector<int32_t> args, DType dtype) {
  return push({op, dtype, std::move(args), 0, {}});
}

int32_t ExprBuilder::copy(const ExprNode& node, const std::vector<int32_t>& moved) {
  ExprNode copy = node;
  for (int32_t& arg : copy.args) arg = moved[static_cast<size_t>(arg)];
  return push(std::move(copy));
}

Expr ExprBuilder::returns(std::vector<int32_t> results) const { return {nodes_, std::move(results)}; }

}  // namespace strew::inline v0
