// What the results hold before the updates: a copy of the operands or a value.
#pragma once

#include "backends/pto/frame.h"

namespace strew::pto {

/// Makes elements [from, to) of every result, as init says; nothing for in_place and gathers. Ends with a barrier.
Status write_init(Frame& frame, const Number& from, const Number& to);

}  // namespace strew::pto
