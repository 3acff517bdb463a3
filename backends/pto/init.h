// What the results hold before the updates: a copy of the operands or a value.
#pragma once

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// Fills the valid part of a tile of `tensor`'s words, `rows` x `cols` of them, with an element's value.
void write_fill(Frame& frame, int tensor, const Named& tile, const Number& rows, const Number& cols, const Scalar& value);

/// Makes elements [from, to) of every result, as init says; nothing for in_place and gathers. Ends with a barrier.
Status write_init(Frame& frame, const Number& from, const Number& to);

}  // namespace strew::inline v0::pto
