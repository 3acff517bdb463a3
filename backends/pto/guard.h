// Guard: keeps ptoas from writing wrong C++ for the scalar arithmetic of a program.
//
// ptoas 0.60 writes a value that is read once into the C++ expression of its reader, and forgets parentheses in one case: where a
// subexpression stands in parentheses itself, its own operands get none. `a + min(b, c)` as the last offset of a view becomes
// `(.. + a + b < c ? b : c)`, and `(x >> y) % z` inside of a sum becomes `(x >> y % z)`. A sum, a difference, a product and the bitwise
// operators are written as a cast of everything they compute, `(int64_t) ((uint64_t) b + (uint64_t) c)`, which no place can tear apart.
//
// So: where the result of another operator (minimum, maximum, selection, comparison, shift, division) is an operand in such a place,
// a sum of it and 0 is put between the two. The 0 is min(core, 0), which ptoas does not know to be 0 and therefore keeps.
#pragma once

#include "compiler/pto/ast.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// Puts the sums into `function`, which ptoas will read. Fails with Code::internal on arithmetic that a sum cannot keep whole: a
/// comparison as a number, or what is narrower than 64 bits and made wider afterwards. No planner writes that.
Status guard_arithmetic(Function& function);

}  // namespace strew::inline v0::pto
