// What profilers read about generated code, in files of the process that nothing else depends on: if a file cannot be written, or if somebody else
// has put a file there, one warning in the log says so, and nothing is written. Tested by tests/unit/backends/llvm/link/perf_map_test.cc and
// tests/unit/backends/llvm/link/jitdump_test.cc.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace strew::inline v0 {

/// A function of generated code and where it lies.
struct LinkedFunction {
  std::string name;
  const char* code = nullptr;
  size_t bytes = 0;
};

/// Appends a line with address, size and name for every function to /tmp/perf-PID.map, from which the profiler perf learns the names of functions
/// that were generated at run time. perf reads the file after the process has ended, so a kernel that was unmapped keeps its line; if another
/// kernel was linked at the same address later, perf shows the later name (the jitdump has no such limit). One thread at a time.
void write_perf_map(std::span<const LinkedFunction> functions);

/// Appends the name and the bytes of every function to /tmp/jit-PID.dump, in perf's jitdump format. After `perf record -k mono`,
/// `perf inject --jit` turns it into ELF files, so that perf annotates the code too, and tells apart kernels that were at one address one after the
/// other. One thread at a time.
void write_jitdump(std::span<const LinkedFunction> functions);

}  // namespace strew::inline v0
