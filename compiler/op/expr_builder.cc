// See strew/expr_builder.h. The dtypes of nodes follow from their arguments. Tested by tests/unit/compiler/op/builder_test.cc.
#include "strew/expr_builder.h"

#include "compiler/op/verify_common.h"

namespace strew::inline v0 {

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
  node.dtype = result_dtype(op, node.dtype);
  return push(std::move(node));
}

int32_t ExprBuilder::apply(ExprOp op, std::vector<int32_t> args, DType dtype) {
  return push({op, dtype, std::move(args), 0, {}});
}

int32_t ExprBuilder::copy(const ExprNode& node, const std::vector<int32_t>& moved) {
  ExprNode copy = node;
  for (int32_t& arg : copy.args) arg = moved[arg];
  return push(std::move(copy));
}

Expr ExprBuilder::returns(std::vector<int32_t> results) const { return {nodes_, std::move(results)}; }

}  // namespace strew::inline v0
