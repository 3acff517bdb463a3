// ExprBuilder: builds the expression graph of a combiner (expr.h), or of any function of elements. Tested by
// tests/unit/compiler/op/builder_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "strew/export.h"
#include "strew/expr.h"
#include "strew/scalar.h"

namespace strew::inline v0 {

/// Builds an expression graph (expr.h) node by node. Every call appends a node and returns its number, which later
/// calls take as argument.
///
///   ExprBuilder e;
///   const int32_t weight = e.extra(0, DType::f32);
///   const int32_t term = e.mul(e.update(0, DType::f32), weight);
///   const int32_t sum = e.add(e.current(0, DType::f32), term);
///   Expr weighted_add = e.returns({sum});
///
/// Write at most one nested call per statement: C++ leaves the order in which arguments are evaluated open, and the
/// order of the nodes is part of the op's text. Nothing is checked here; verify() checks the graph as part of the op.
class ExprBuilder {
 public:
  STREW_API int32_t current(int32_t index, DType dtype);
  STREW_API int32_t update(int32_t index, DType dtype);
  STREW_API int32_t extra(int32_t index, DType dtype);
  STREW_API int32_t literal(const Scalar& value);
  STREW_API int32_t convert(int32_t value, DType dtype);
  STREW_API int32_t bitcast(int32_t value, DType dtype);
  /// Any operation on earlier nodes; the dtype of the node follows from its arguments.
  STREW_API int32_t apply(ExprOp op, std::vector<int32_t> args);
  /// An operation whose dtype is given, for a reader of a format that says it. verify() compares it with the arguments'.
  STREW_API int32_t apply(ExprOp op, std::vector<int32_t> args, DType dtype);
  int32_t add(int32_t a, int32_t b) { return apply(ExprOp::add, {a, b}); }
  int32_t sub(int32_t a, int32_t b) { return apply(ExprOp::sub, {a, b}); }
  int32_t mul(int32_t a, int32_t b) { return apply(ExprOp::mul, {a, b}); }
  /// `value` itself if that is its dtype, else its conversion or its bits.
  int32_t as(int32_t value, DType type) { return dtype(value) == type ? value : convert(value, type); }
  int32_t as_bits(int32_t value, DType type) { return dtype(value) == type ? value : bitcast(value, type); }
  /// A node of another graph. Its argument a is node `moved[a]` of this one.
  STREW_API int32_t copy(const ExprNode& node, const std::vector<int32_t>& moved);

  DType dtype(int32_t node) const { return nodes_[static_cast<size_t>(node)].dtype; }
  size_t size() const { return nodes_.size(); }

  /// The graph. `results`: the node of each result, N for a scatter and 1 for a gather.
  STREW_API Expr returns(std::vector<int32_t> results) const;

 private:
  int32_t push(ExprNode node);

  std::vector<ExprNode> nodes_;
};

}  // namespace strew::inline v0
