// Expr: an expression graph over scalars, the general form of a combiner (docs/semantics.md section 1).
//
// A graph is a list of nodes in evaluation order; a node refers only to earlier nodes. The inputs of a scatter's graph
// are the N current values, the N updates and the extras; those of a gather's graph are the gathered element and the
// extras. Every node is rounded to its own dtype (docs/semantics.md section 4). There are no implicit conversions:
// `convert` is a node. ExprBuilder (builder.h) writes graphs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "strew/dtype.h"
#include "strew/export.h"
#include "strew/scalar.h"

namespace strew::inline v0 {
// clang-format off
enum class ExprOp : uint8_t {
  current,  ///< scatter: the destination's value in result `index` (0..N-1). gather: the gathered element (index 0)
  update,   ///< scatter: the element of updates `index` (0..N-1), in the dtype of those updates
  extra,    ///< the element of extra input `index`
  literal,  ///< the constant `value`
  convert,  ///< the argument converted to `dtype`, rounded once
  bitcast,  ///< the argument's bits as a `dtype` of the same width
  // two arguments of the node's dtype
  add, sub, mul, div, rem, min, max, pow, atan2, bit_and, bit_or, bit_xor, shift_left, shift_right_logical, shift_right_arithmetic,
  // one argument of the node's dtype
  neg, abs, sign, bit_not, popcnt, count_leading_zeros,
  floor, ceil, round_half_even, round_half_away, trunc,
  sqrt, rsqrt, cbrt, exp, expm1, exp2, log, log1p, log2, tanh, logistic, sin, cos, tan, erf,
  // complex <-> its parts
  real, imag, complex,
  is_finite,  ///< one float argument, bool result
  // two arguments of one dtype, bool result; integers compare by their signedness, floats as IEEE (NaN: only ne is true)
  eq, ne, lt, le, gt, ge,
  select,  ///< bool, a, b -> a or b
};
// clang-format on
struct ExprNode {
  ExprOp op = ExprOp::literal;
  DType dtype = DType::f32;   ///< of the node's value
  std::vector<int32_t> args;  ///< numbers of earlier nodes
  int32_t index = 0;          ///< current, update, extra: which input
  Scalar value;               ///< literal: the constant

  friend bool operator==(const ExprNode&, const ExprNode&) = default;
};

struct Expr {
  std::vector<ExprNode> nodes;
  std::vector<int32_t> results;  ///< number of each result's node: N for a scatter, 1 for a gather

  bool empty() const { return nodes.empty(); }
  friend bool operator==(const Expr&, const Expr&) = default;
};

/// The name of an operation in canonical text (StableHLO's name where StableHLO has the operation), and its number of arguments.
struct ExprOpInfo {
  ExprOp op;
  std::string_view name;
  int arity;
};
STREW_API const ExprOpInfo& info(ExprOp op);
inline std::string_view name(ExprOp op) { return info(op).name; }
/// The rows of all operations, in enum order.
STREW_API const std::vector<ExprOpInfo>& expr_ops();

}  // namespace strew::inline v0
