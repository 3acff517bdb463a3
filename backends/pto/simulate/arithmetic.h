// What tile instructions compute on one element, bit for bit.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/pto/instructions.h"
#include "strew/dtype.h"

namespace strew::inline v0::pto {

/// `a` and `b` are codes of `dtype`; one-operand computations leave `b` alone. Integers wrap; floats round once to their own type;
/// max and min of a NaN are a NaN. Integer division by 0 gives all ones, as shifts by the width or more give 0 or the sign.
uint64_t compute(Compute what, DType dtype, uint64_t a, uint64_t b);

/// tcvt: `mode` is RINT, ROUND, FLOOR, CEIL or TRUNC; integers out of range saturate where `saturates`, else keep their low bits.
uint64_t convert(DType from, DType to, uint64_t code, std::string_view mode, bool saturates);

/// tcmp: eq, ne, lt, gt, le, ge.
bool compare(std::string_view mode, DType dtype, uint64_t a, uint64_t b);

}  // namespace strew::inline v0::pto
