// Bugs put into programs, to see that they are noticed.
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
  int64_t buffer_bytes = 0;  ///< of the vector buffer; 0: as it is
};

/// In percent, how often a kind must be noticed: not every change shows in the data at hand.
int least_caught(std::string_view what);

/// One of each kind that the program has room for: a flag dropped, a mode changed, an address moved, the buffer too small, every core
/// the first.
std::vector<Planted> plant_bugs(const pto::Program& program, Rng& rng);

}  // namespace strew::test
