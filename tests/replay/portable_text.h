// A program of the portable backend as text, for tests/replay: every number that decides what its entries do.
#pragma once

#include <string>

#include "backends/portable/program.h"

namespace strew::test {

/// Loops are written as their places in the table of loops, of which the program uses `table`.
std::string portable_text(const portable::InterpretedKernel& program, const portable::Loops& table);

}  // namespace strew::test
