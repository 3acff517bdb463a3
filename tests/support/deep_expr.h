// Ops whose combiner is an expression of many nodes, in the shapes that recursion meets: the limits of every stage are tested with them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "strew/op.h"
#include "tests/support/ops.h"

namespace strew::test {

enum class DeepShape { chain, comb, tree, shared };

inline const char* name_of(DeepShape shape) {
  switch (shape) {
    case DeepShape::chain:
      return "chain";
    case DeepShape::comb:
      return "comb";
    case DeepShape::tree:
      return "tree";
    case DeepShape::shared:
      return "shared";
  }
  return "";
}

/// An expression of `count` nodes. chain: every node reads the one before; comb: as its second argument; tree: balanced; shared: every
/// node reads the one before twice, so that it would be 2^count nodes as a tree.
inline Expr expr_of(DeepShape shape, DType dtype, int count) {
  Expr out;
  const ExprOp ops[] = {ExprOp::add, ExprOp::mul, is_float(dtype) ? ExprOp::max : ExprOp::bit_xor};
  const auto combine = [&](int32_t a, int32_t b) { out.nodes.push_back({ops[out.nodes.size() % 3], dtype, {a, b}, 0, {}}); };
  const int leaves = shape == DeepShape::tree ? (count + 1) / 2 : 2;
  for (int i = 0; i < leaves; ++i) out.nodes.push_back({i % 2 == 0 ? ExprOp::current : ExprOp::update, dtype, {}, 0, {}});
  for (int32_t next = 0; static_cast<int>(out.nodes.size()) < count;) {
    const auto last = static_cast<int32_t>(out.nodes.size()) - 1;
    if (shape == DeepShape::chain) combine(last, 1);
    if (shape == DeepShape::comb) combine(last % 2, last);
    if (shape == DeepShape::shared) combine(last, last);
    if (shape == DeepShape::tree) {
      if (next + 1 > last) break;
      combine(next, next + 1);
      next += 2;
    }
  }
  out.results = {static_cast<int32_t>(out.nodes.size()) - 1};
  return out;
}

/// Adds 3 rows of 4 updates to 5 rows, by the expression.
inline Op deep_op(DeepShape shape, DType dtype, int count) {
  const std::string d(name(dtype));
  Op op = op_of("strew1.scatter(operand=" + d + "[5,4] indices=i32[3,1] updates=" + d +
                "[3,4] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 "
                "init=in_place)");
  auto& scatter = std::get<Scatter>(op);
  scatter.combiner = CombinerKind::expr;
  scatter.expr = expr_of(shape, dtype, count);
  return op;
}

}  // namespace strew::test
