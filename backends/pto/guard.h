// guard_arithmetic(): works around a defect of ptoas 0.60, which writes wrong C++ for some nested scalar expressions.
//
// The defect: ptoas inlines a value that has one reader into the C++ expression of that reader. If this expression is
// itself in parentheses, ptoas writes none around its operands. So `a + min(b, c)` as the last offset of a view becomes
// `(.. + a + b < c ? b : c)`, and `(x >> y) % z` inside a sum becomes `(x >> y % z)`. Sums, differences, products and
// bitwise operators are safe as operands: ptoas writes them as a cast of the whole expression, `(int64_t) ((uint64_t) b
// + (uint64_t) c)`.
//
// The workaround: if the result of an operator that is not safe (minimum, maximum, selection, comparison, shift,
// division) is an operand at such a place, the operand becomes a sum of that result and 0. The 0 is min(core, 0), which
// ptoas cannot fold away. An operand at such a place is called torn in guard.cc. Tested by
// tests/ptoas/arithmetic_test.cc.
#pragma once

#include "compiler/pto/ast.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// Inserts the sums into `function`, which ptoas will read. Fails with Code::internal on arithmetic that a sum cannot
/// protect: a comparison used as a number, or a number narrower than 64 bits that is widened afterwards. The planner
/// writes neither.
Status guard_arithmetic(Function& function);

}  // namespace strew::inline v0::pto
