// Expr: an expression graph over scalars, the general form of a combiner (docs/semantics.md section 1).
//
// A graph is a list of nodes in evaluation order; a node refers only to earlier nodes. The inputs of a scatter's graph
// are the N current values, the N updates and the extras; those of a gather's graph are the gathered element and the
// extras. Every node is rounded to its own dtype (docs/semantics.md section 4). There are no implicit conversions:
// `convert` is a node. ExprBuilder (expr_builder.h) writes graphs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "strew/dtype.h"
#include "strew/export.h"
#include "strew/expr_ops.def"
#include "strew/scalar.h"

namespace strew::inline v0 {
/// The operators; expr_ops.def has a row for each, with all that is the same wherever an operator is used.
enum class ExprOp : uint8_t {
#define STREW_EXPR_OP(op, ...) op,
  STREW_EXPR_OPS(STREW_EXPR_OP)
#undef STREW_EXPR_OP
};

struct ExprNode {
  ExprOp op = ExprOp::literal;
  DType dtype = DType::f32;   ///< of the node's value
  std::vector<int32_t> args;  ///< numbers of earlier nodes
  int32_t index = 0;          ///< current, update, extra: which input
  Scalar value;               ///< literal: the constant

  friend auto operator<=>(const ExprNode&, const ExprNode&) = default;
};

struct Expr {
  std::vector<ExprNode> nodes;
  std::vector<int32_t> results;  ///< number of each result's node: N for a scatter, 1 for a gather

  bool empty() const { return nodes.empty(); }
  const ExprNode& node(int32_t number) const { return nodes[static_cast<size_t>(number)]; }
  const ExprNode& result(size_t i = 0) const { return node(results[i]); }
  friend bool operator==(const Expr&, const Expr&) = default;
};

/// Sets of families of dtypes: those that an operator takes, of dtypes with arithmetic.
namespace expr_dtypes {
inline constexpr uint8_t own = 0;  ///< the operator has a rule of its own (verify_expr.cc)
inline constexpr uint8_t boolean = 1, signed_integers = 2, unsigned_integers = 4, floats = 8, complexes = 16;
inline constexpr uint8_t integers = signed_integers | unsigned_integers, bits = boolean | integers, reals = integers | floats,
                         ordered = boolean | reals, numbers = reals | complexes, all = boolean | numbers,
                         signed_reals = signed_integers | floats;
}  // namespace expr_dtypes

/// The dtype of a node by that of its arguments: the same, bool, complex64's f32, f32's complex64; own: what the node says.
enum class ExprResult : uint8_t { own, same, boolean, part, whole };

/// What a row of expr_ops.def says of an operator, without the names that it has in other formats.
struct ExprOpInfo {
  ExprOp op;
  std::string_view name;  ///< in canonical text: StableHLO's where StableHLO has the operator
  int arity;
  uint8_t arguments;  ///< expr_dtypes
  ExprResult result;
};
STREW_API const ExprOpInfo& info(ExprOp op);
inline std::string_view name(ExprOp op) { return info(op).name; }
/// The rows of all operators, in enum order.
STREW_API const std::vector<ExprOpInfo>& expr_ops();

/// Is it eq, ne, lt, le, gt or ge?
inline constexpr bool is_comparison(ExprOp op) {
#define STREW_EXPR_IS(row, ...) || op == ExprOp::row
  return false STREW_EXPR_COMPARE(STREW_EXPR_IS, STREW_EXPR_IS);
#undef STREW_EXPR_IS
}
/// Does it read an input of the graph, the one that the node's index says?
inline constexpr bool is_input(ExprOp op) { return op == ExprOp::current || op == ExprOp::update || op == ExprOp::extra; }

}  // namespace strew::inline v0
