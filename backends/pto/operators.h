// Operators: what a chip has for each arithmetic operator of a combiner, in one table.
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
  Opcode tile;                                    ///< on tiles
  std::optional<Opcode> number, unsigned_number;  ///< on integers, one by one; none: the scalar unit has it not, or not alike
  std::string_view atomic;                        ///< scatterAtomicOp; empty: none
  bool by_sign = false;                           ///< signed and unsigned integers give different bits
  bool reorders(DType dtype) const { return by_sign ? number.has_value() : number.has_value() && is_integer(dtype); }
};

/// The row of an operator, or null.
const Operator* find_operator(ExprOp op);

/// The nodes that `root` needs and itself, in the order in which a recursive evaluation would finish them: arguments first, left to
/// right, each node once. No recursion: a graph is as deep as it has nodes.
std::vector<int32_t> evaluation_order(const Expr& graph, int32_t root);

/// Of a scatter that folds every pair by the same operator, `current op update` with the update converted where dtypes differ; null:
/// another expression, or a gather.
const Operator* combiner_operator(const Plan& plan);
/// A scatter whose updates replace what is there, converted where dtypes differ.
bool assigns(const Plan& plan);
/// Have operand, update and result of each pair one dtype?
bool same_types(const Plan& plan);
bool has_extras(const Plan& plan);

}  // namespace strew::inline v0::pto
