// Plants bugs in PTO programs, to test that the simulator or the comparison notices them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/pto/program.h"
#include "tests/support/rng.h"

namespace strew::test {

struct Planted {
  std::string what;
  pto::Module module;
  int64_t buffer_bytes = 0;  ///< size of the vector buffer; 0: unchanged
};

/// The share of such bugs, in percent, that must be noticed: not every bug changes the result for the data of a call.
int least_caught(std::string_view what);

/// One bug of each kind that is possible in the program: a flag removed, a mode changed, a look-up by another index, the buffer
/// too small, every core acts as the first.
std::vector<Planted> plant_bugs(const pto::TileProgram& program, Rng& rng);

}  // namespace strew::test
