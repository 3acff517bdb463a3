// Flags: set_flag and wait_flag between the pipes of a core, from what each statement reads and writes.
#pragma once

#include <set>
#include <string>

#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

/// Writes the flags and pipe barriers of a function that has none (only barriers of all pipes, which stay). `apart`: pointers behind
/// which no two writes meet.
void write_flags(Function& function, Chip chip, const std::set<std::string>& apart = {});

}  // namespace strew::inline v0::pto
