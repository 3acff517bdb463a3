// unroll(): turns a program in which all numbers are known into a straight line of PTO-AS. Tested by
// tests/golden/pto_program_test.cc.
#pragma once

#include "backends/pto/program.h"

namespace strew::inline v0::pto {

/// Turns the planned program of one core into PTO-AS: loops are unrolled, arithmetic on numbers is evaluated, and every
/// write of a tile defines a new value. Fails with the reason if the grammar cannot express the program.
Status unroll(TileProgram& program, Chip chip);

}  // namespace strew::inline v0::pto
