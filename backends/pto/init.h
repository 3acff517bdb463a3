// What programs of rows and of windows (forms.h) do before they move anything. Policy error: they check all indices. The check
// keeps a tile of i32, the cell: its element 0 becomes 1 if an index is out of bounds. Then they make the initial values of the
// results: a copy of the operands, or a fill value. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include <functional>

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// Writes the check: `all` calls add_fault() for every index, before anything else is written. Then the cell is stored to the
/// argument `fault`, and frame.allowed is set: 1 if no index was out of bounds, else 0.
void write_check(Frame& frame, const std::function<void(const Named& cell)>& all);
/// Makes the cell the maximum of itself and `found`, an i32 that is 1 for an index out of bounds and 0 otherwise.
void add_fault(Frame& frame, const Named& cell, const Named& found);

/// Fills the valid part of a tile, `rows` x `cols` words of `tensor`, with copies of one element.
void write_fill(Frame& frame, int tensor, const Named& tile, const Number& rows, const Number& cols, const Scalar& value);

/// Writes the initial values of elements [from, to) of every result, and a barrier. Writes nothing for init in_place
/// and for gathers.
Status write_init(Frame& frame, const Number& from, const Number& to);

}  // namespace strew::inline v0::pto
