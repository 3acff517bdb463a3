// build_library: compiles the kernels of a manifest for all its targets and writes the library's folder: archive, header, report, and what
// finds them (CMake, pkg-config). The same manifest gives the same bytes, wherever and with however many threads. Tested by tests/library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "library/manifest.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct LibraryOptions {
  int jobs = 0;  ///< the most kernels that are compiled at a time; 0: as many as this process may use cores
  /// Refuse kernels whose code calls more than memcpy, memmove, memset and memcmp, for programs without libstrew_rt and libm.
  bool freestanding = false;
  /// Is called, by one of the threads that compile, one at a time, when `done` of `all` variants are compiled. If it returns false, the run ends
  /// with Code::cancelled, and the folder stays as it was.
  std::function<bool(size_t done, size_t all)> progress;
};

/// What was made of one kernel for one target.
struct LibraryVariant {
  std::string kernel, target, symbol, backend, schedule, why;
  size_t object_bytes = 0;
  bool reused = false;  ///< taken from the last output, whose kernel has the same symbol
  int64_t nanoseconds = 0;
};
/// What was made of a program.
struct LibraryProgramReport {
  std::string name;
  size_t steps = 0;                             ///< calls of kernels, copies and checks
  int64_t constant_bytes = 0, arena_bytes = 0;  ///< in the library; of the memory of a run
};
struct LibraryReport {
  std::vector<LibraryVariant> variants;
  std::vector<LibraryProgramReport> programs;
  size_t archive_bytes = 0;
  std::string archive, header;  ///< paths
};
/// The report as `strew library --json` prints it.
std::string report_json(const LibraryReport& report, const Manifest& manifest);

/// Writes the folder. A folder of an earlier run is replaced when everything has been made; any other folder that is not empty is refused.
Expected<LibraryReport> build_library(const Manifest& manifest, const std::string& folder, const LibraryOptions& options);

}  // namespace strew::inline v0
