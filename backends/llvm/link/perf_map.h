// perf_map: writes the file /tmp/perf-PID.map, from which the profiler perf learns the names of functions that were generated at run time. perf
// reads the file after the process has ended, so a kernel that was unmapped keeps its line; if another kernel was linked at the same address
// later, perf shows the later name (jitdump.h has no such limit). Tested by tests/unit/backends/llvm/link/perf_map_test.cc.
#pragma once

#include <span>

#include "backends/llvm/link/functions.h"

namespace strew::inline v0 {

/// Appends a line with address, size and name for every function. Nothing depends on the file, so if it cannot be written, or if somebody else
/// has put a file there, nothing is written. One thread at a time.
void write_perf_map(std::span<const LinkedFunction> functions);

}  // namespace strew::inline v0
