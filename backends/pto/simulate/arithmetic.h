// The arithmetic of tile instructions on one element, bit for bit. Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/pto/instructions.h"
#include "strew/dtype.h"

namespace strew::inline v0::pto {

/// Computes `what` of `a` and `b`, which are the bits of elements of `dtype`; computations of one operand ignore `b`.
/// Integers wrap. Floats are rounded once to their own type. The maximum and the minimum of a NaN and anything are a
/// NaN. An integer divided by 0 has all bits set. A shift by the width or more gives 0, or for signed right shifts the
/// sign in every bit.
uint64_t compute(TileCompute what, DType dtype, uint64_t a, uint64_t b);

/// tcvt: converts an element. `mode`, the rounding to integers, is RINT, ROUND, FLOOR, CEIL or TRUNC. `saturates`:
/// integers out of range become the nearest end of the range; otherwise they keep their low bits.
uint64_t convert(DType from, DType to, uint64_t code, std::string_view mode, bool saturates);

/// tcmp: compares two elements. `mode` is eq, ne, lt, gt, le or ge.
bool compare(std::string_view mode, DType dtype, uint64_t a, uint64_t b);

}  // namespace strew::inline v0::pto
