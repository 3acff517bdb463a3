// Operators: one table of the instructions that compute each arithmetic operator of a combiner, and questions about a
// plan's combiner. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/plan/plan.h"
#include "compiler/pto/ast.h"
#include "strew/expr.h"

namespace strew::inline v0::pto {

struct Operator {
  ExprOp op;
  Opcode tile;  ///< the instruction on tiles
  /// On scalars, signed and unsigned; none: scalars lack it, or compute something else
  std::optional<Opcode> number, unsigned_number;
  std::string_view atomic;  ///< the value of scatterAtomicOp; empty: there is no atomic
  bool by_sign = false;     ///< the result's bits depend on whether integers are signed
  /// Do updates of this type combine to the same bits in any order?
  bool reorders(DType dtype) const { return by_sign ? number.has_value() : number.has_value() && is_integer(dtype); }
};

/// The row of an operator, or null.
const Operator* find_operator(ExprOp op);

/// `root` and the nodes that it depends on, in postorder: arguments first, left to right, each node once. It is
/// computed without recursion, because a graph may be as deep as it has nodes.
std::vector<int32_t> evaluation_order(const Expr& graph, int32_t root);

/// The operator of a scatter that combines every pair by the same operator, as `current op update`, where the update is
/// converted if dtypes differ. Null for all other expressions and for gathers.
const Operator* combiner_operator(const Plan& plan);
/// Is the op a scatter whose updates replace the current values, converted if dtypes differ?
bool assigns(const Plan& plan);
/// Have operand, update and result of each pair one dtype?
bool same_types(const Plan& plan);
bool has_extras(const Plan& plan);

}  // namespace strew::inline v0::pto
