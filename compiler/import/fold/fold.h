// fold_computes: merges the operations around the kernels of an imported program (Computes) into those kernels wherever the program's
// results keep every bit.
#pragma once

#include "strew/import.h"

namespace strew::inline v0::fold {

/// Sets `disposition` and `kernel` of each Compute, changes the ops and arguments of kernels, and adds to a kernel's notes
/// what was merged into it. A Compute that no fold takes is evaluated by compiler/program/interpret.
void fold_computes(Program& program, const ImportOptions& options);

}  // namespace strew::inline v0::fold
