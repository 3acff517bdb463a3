// The initial values of the results: a copy of the operands, or a fill value. Tested by
// tests/golden/pto_program_test.cc.
#pragma once

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// Fills the valid part of a tile, `rows` x `cols` words of `tensor`, with copies of one element.
void write_fill(Frame& frame, int tensor, const Named& tile, const Number& rows, const Number& cols, const Scalar& value);

/// Writes the initial values of elements [from, to) of every result, and a barrier. Writes nothing for init in_place
/// and for gathers.
Status write_init(Frame& frame, const Number& from, const Number& to);

}  // namespace strew::inline v0::pto
