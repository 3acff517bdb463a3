// Unroll: a program whose numbers are all known, as one straight line of PTO-AS.
#pragma once

#include "backends/pto/program.h"

namespace strew::inline v0::pto {

/// Turns the planned program of one core into PTO-AS: loops written out, numbers computed, each write of a tile a value of its own. Fails
/// where the grammar cannot say it.
Status unroll(Program& program, Chip chip);

}  // namespace strew::inline v0::pto
