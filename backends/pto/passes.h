// The passes over a program that is written, in the order in which plan_program() runs them. Each is in the file of its name:
// addresses.cc, guard.cc, flags.cc, unroll.cc. Tested by tests/golden/pto_program_test.cc.
#pragma once

#include <set>
#include <string>

#include "backends/pto/program.h"

namespace strew::inline v0::pto {

/// How many bytes the tiles take in the vector core's unified buffer (UB) and in the cube core's L1.
struct PlacedBytes {
  int64_t ub = 0, l1 = 0;
};
/// Computes the addresses of all tiles of a function. `write`: also writes them into the statements as `addr` operands,
/// which ptoas' level3 and C++ need; without them ptoas places the tiles itself, and only the sizes are of interest.
PlacedBytes place_tiles(Function& function, bool write);

/// Changes nested arithmetic that ptoas 0.60 would write without the parentheses that it needs. Fails with Code::internal on
/// arithmetic that cannot be protected: a comparison used as a number, or a number narrower than 64 bits that is widened
/// afterwards. The planner writes neither.
Status guard_arithmetic(Function& function);

/// Inserts flags between the pipes of a core and barriers of one pipe, from what each statement reads and writes, into a
/// function that has none but barriers of all pipes, which stay. `apart`: names of pointers whose memory no two statements
/// write at the same place, so that stores to it need no order.
void write_flags(Function& function, Chip chip, const std::set<std::string>& apart = {});

/// Turns the planned program of one core, in which all numbers are known, into PTO-AS: loops are unrolled, arithmetic on
/// numbers is evaluated, and every write of a tile defines a new value. Fails with the reason if the grammar cannot express
/// the program.
Status unroll(TileProgram& program, Chip chip);

}  // namespace strew::inline v0::pto
