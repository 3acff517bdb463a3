// write_flags(): inserts the synchronisation between the pipes of a core (set_flag, wait_flag, barriers of one pipe),
// from what each statement reads and writes. Tested by tests/unit/backends/pto/pto_flags_test.cc.
#pragma once

#include <set>
#include <string>

#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

/// Inserts flags and barriers into a function that has none but barriers of all pipes, which stay. `apart`: names of
/// pointers whose memory no two statements write at the same place, so that stores to it need no order.
void write_flags(Function& function, Chip chip, const std::set<std::string>& apart = {});

}  // namespace strew::inline v0::pto
