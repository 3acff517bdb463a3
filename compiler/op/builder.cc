// Builders collect an op and complete it: results that were not named, strides, the graph of a combiner's name, dtypes of expression nodes.
// Everything else is left to verify(). Covered by tests/unit/builder_test.cc.
#include "strew/builder.h"

#include "compiler/op/access_dims.h"
#include "compiler/op/combiner.h"

namespace strew {

ScatterBuilder& ScatterBuilder::operand(TensorType type) { return op_.operands.push_back(std::move(type)), *this; }
ScatterBuilder& ScatterBuilder::updates(TensorType type) { return op_.updates.push_back(std::move(type)), *this; }
ScatterBuilder& ScatterBuilder::result(TensorType type) { return op_.results.push_back(std::move(type)), *this; }
ScatterBuilder& ScatterBuilder::indices(TensorType type) { return op_.indices = std::move(type), *this; }
ScatterBuilder& ScatterBuilder::extra(ExtraKind kind, TensorType type) {
  return op_.extras.push_back({kind, std::move(type)}), *this;
}
ScatterBuilder& ScatterBuilder::update_window_dims(Dims dims) { return op_.dims.update_window_dims = std::move(dims), *this; }
ScatterBuilder& ScatterBuilder::inserted_window_dims(Dims dims) { return op_.dims.inserted_window_dims = std::move(dims), *this; }
ScatterBuilder& ScatterBuilder::batching_dims(Dims of_input, Dims of_indices) {
  op_.dims.input_batching_dims = std::move(of_input);
  op_.dims.scatter_indices_batching_dims = std::move(of_indices);
  return *this;
}
ScatterBuilder& ScatterBuilder::scatter_dims_to_operand_dims(Dims dims) {
  return op_.dims.scatter_dims_to_operand_dims = std::move(dims), *this;
}
ScatterBuilder& ScatterBuilder::index_vector_dim(int64_t dim) { return op_.dims.index_vector_dim = dim, *this; }
ScatterBuilder& ScatterBuilder::combine(CombinerKind kind) { return combiner_ = kind, *this; }
ScatterBuilder& ScatterBuilder::combine(Expr expr) {
  combiner_ = CombinerKind::expr;
  op_.combiner = std::move(expr);
  return *this;
}
ScatterBuilder& ScatterBuilder::in_place() { return op_.init = InitKind::in_place, *this; }
ScatterBuilder& ScatterBuilder::fill(std::vector<Scalar> values) {
  op_.init = InitKind::fill;
  op_.fill = std::move(values);
  return *this;
}
ScatterBuilder& ScatterBuilder::oob(OobPolicy policy) { return op_.oob = policy, *this; }
ScatterBuilder& ScatterBuilder::normalize_negative(bool on) { return op_.normalize_negative = on, *this; }
ScatterBuilder& ScatterBuilder::relaxed(bool on) { return op_.order = on ? Order::relaxed : Order::in_order, *this; }
ScatterBuilder& ScatterBuilder::accumulate(Accumulate mode) { return op_.accumulate = mode, *this; }
ScatterBuilder& ScatterBuilder::indices_are_sorted(bool on) { return op_.indices_are_sorted = on, *this; }
ScatterBuilder& ScatterBuilder::unique_indices(bool on) { return op_.unique_indices = on, *this; }
ScatterBuilder& ScatterBuilder::fail(Status status) {
  if (failure_.ok()) failure_ = std::move(status);
  return *this;
}

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

GatherBuilder& GatherBuilder::operand(TensorType type) { return op_.operand = std::move(type), *this; }
GatherBuilder& GatherBuilder::indices(TensorType type) { return op_.indices = std::move(type), *this; }
GatherBuilder& GatherBuilder::result(TensorType type) {
  op_.result = std::move(type);
  has_result_ = true;
  return *this;
}
GatherBuilder& GatherBuilder::extra(ExtraKind kind, TensorType type) {
  return op_.extras.push_back({kind, std::move(type)}), *this;
}
GatherBuilder& GatherBuilder::offset_dims(Dims dims) { return op_.dims.offset_dims = std::move(dims), *this; }
GatherBuilder& GatherBuilder::collapsed_slice_dims(Dims dims) { return op_.dims.collapsed_slice_dims = std::move(dims), *this; }
GatherBuilder& GatherBuilder::batching_dims(Dims of_operand, Dims of_indices) {
  op_.dims.operand_batching_dims = std::move(of_operand);
  op_.dims.start_indices_batching_dims = std::move(of_indices);
  return *this;
}
GatherBuilder& GatherBuilder::start_index_map(Dims dims) { return op_.dims.start_index_map = std::move(dims), *this; }
GatherBuilder& GatherBuilder::index_vector_dim(int64_t dim) { return op_.dims.index_vector_dim = dim, *this; }
GatherBuilder& GatherBuilder::slice_sizes(Dims sizes) { return op_.slice_sizes = std::move(sizes), *this; }
GatherBuilder& GatherBuilder::expr(Expr expr) { return op_.expr = std::move(expr), *this; }
GatherBuilder& GatherBuilder::oob(OobPolicy policy) { return op_.oob = policy, *this; }
GatherBuilder& GatherBuilder::fill(OobPolicy policy, Scalar value) {
  op_.oob = policy;
  op_.fill = value;
  return *this;
}
GatherBuilder& GatherBuilder::normalize_negative(bool on) { return op_.normalize_negative = on, *this; }
GatherBuilder& GatherBuilder::indices_are_sorted(bool on) { return op_.indices_are_sorted = on, *this; }
GatherBuilder& GatherBuilder::fail(Status status) {
  if (failure_.ok()) failure_ = std::move(status);
  return *this;
}

/// Where the lists make no sense the shape is wrong in some way that verify() names.
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

Expr ExprBuilder::returns(std::vector<int32_t> results) const { return {nodes_, std::move(results)}; }

}  // namespace strew
