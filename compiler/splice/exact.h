// Which functions have the same bits in strew as in XLA:CPU, on any values.
//
// strew rounds each operation to its dtype. XLA:CPU compiles operations that it fuses as one loop and lets LLVM make one operation of a product and the
// sum that reads it (FPOpFusion::Fast); its algebraic simplifier changes divisions by constants, quotients of quotients, and constants that follow each
// other. So the bits of an operation depend on what stands before and behind it, however its operands were moved in between; a scatter ends that, because
// XLA reads its updates from memory.
//
// Compared on 40,000 drawn and special values per row, jit of one operation on gathered elements against strew, without subnormals (jaxlib 0.10.2):
//
//   f64 f32 f16 bf16   add subtract multiply divide minimum maximum sqrt floor ceil abs sign negate round is_finite compare select: equal
//   f64 f32 f16 bf16   remainder is a function in XLA, as tanh and others are; in f32 and bf16 it keeps subnormal numbers: it differs
//   f64 f32 f16        division by a constant that is no power of two, two products or two sums with constants, a sum of a product: differ
//   bf16               these are equal, because XLA rounds each step; but a conversion of a product to f32 takes it before it is rounded
//   converts           equal, but for those that round twice: f64 to f16 and bf16, integers of more than 24 bits to bf16
//   integers           all equal, with division by 0 and shifts by too much
//   sums               of 4,096 floats and more, in the order of the library YNNPACK; of fewer in order, in f16 and bf16 rounded once at the end
//
// The bits of a NaN that an operation makes are no one's (docs/semantics.md). Tested by tests/unit/compiler/splice/policy_test.cc.
#pragma once

#include <string>

#include "strew/program.h"

namespace strew::inline v0 {

/// Why the function of a region, whose inputs are elements in memory, has other bits in XLA; empty: it has the same.
std::string obstacle(const Expr& function);

/// The same of operation `compute` around the kernels, with what stands before it.
std::string obstacle(const Program& program, int compute);

/// Would XLA's bits of an operation that reads the value change if the value were rounded to its dtype first, or have they changed already where it
/// was made? So it is of arithmetic on floats, directly or moved.
bool is_arithmetic(const Program& program, int value);

}  // namespace strew::inline v0
