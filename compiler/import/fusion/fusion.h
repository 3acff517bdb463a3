// fuse_program: merges the operations around the kernels of an imported program (Computes) into those kernels wherever the program's
// results keep every bit.
#pragma once

#include "strew/import.h"

namespace strew::inline v0::fusion {

/// Sets `disposition` and `kernel` of each Compute, changes the ops and arguments of kernels, and adds to a kernel's notes
/// what was merged into it. A Compute that no step takes is evaluated by compiler/program/interpret.
Status fuse_program(Program& program, const ImportOptions& options);

/// Verifies the program after every step, and not only when all are done: for tests and fuzz targets. The error of fuse_program() names the step.
inline bool verifies_steps = false;

}  // namespace strew::inline v0::fusion
