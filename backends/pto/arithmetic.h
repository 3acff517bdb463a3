// Arithmetic of programs, bit for bit: of tile instructions on one element, and of statements on scalars. The builder folds numbers
// with it, PTO-AS is unrolled with it, and the simulator computes with it. Tested by
// tests/unit/backends/pto/simulate/pto_simulate_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/pto/instructions.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// Computes `what` of `a` and `b`, which are the bits of elements of `dtype`; computations of one operand ignore `b`.
/// Integers wrap. Floats are rounded once to their own type. The maximum and the minimum of a NaN and anything are a
/// NaN. An integer divided by 0 has all bits set. A shift by the width or more gives 0, or for signed right shifts the
/// sign in every bit.
uint64_t compute(Computation what, DType dtype, uint64_t a, uint64_t b);

/// tcvt: converts an element. `mode`, the rounding to integers, is RINT, ROUND, FLOOR, CEIL or TRUNC. `saturates`:
/// integers out of range become the nearest end of the range; otherwise they keep their low bits.
uint64_t convert(DType from, DType to, uint64_t code, std::string_view mode, bool saturates);

/// tcmp: compares two elements. `mode` is eq, ne, lt, gt, le or ge.
bool compare(std::string_view mode, DType dtype, uint64_t a, uint64_t b);

/// A scalar: the bits of its type, whose higher bits are 0.
struct Bits {
  const Type* type = nullptr;
  uint64_t code = 0;
};
/// The low bits of a code, as many as the type has; the number that they stand for, with its sign.
uint64_t cut(uint64_t code, const Type& type);
int64_t number_of(const Type& type, uint64_t code);
/// The bits of a statement's result from those of its operands: a constant, a cast, arithmetic, a comparison or a selection.
/// Fails on a division by 0 and on a shift by the width or more.
Expected<uint64_t> evaluate(const Statement& s, std::span<const Bits> operands);

}  // namespace strew::inline v0::pto
