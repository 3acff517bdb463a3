// jitdump: writes the file /tmp/jit-PID.dump in perf's jitdump format, with the name and the bytes of every generated function. After
// `perf record -k mono`, `perf inject --jit` turns it into ELF files, so that perf annotates the code too, and tells apart kernels that were at one
// address one after the other. Tested by tests/unit/backends/llvm/link/jitdump_test.cc.
#pragma once

#include <span>

#include "backends/llvm/link/functions.h"

namespace strew::inline v0 {

/// Appends a record for every function. Nothing depends on the file: see write_perf_map(). One thread at a time.
void write_jitdump(std::span<const LinkedFunction> functions);

}  // namespace strew::inline v0
