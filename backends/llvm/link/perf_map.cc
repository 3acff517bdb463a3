// See perf_map.h.
#include "backends/llvm/link/perf_map.h"

#include <sstream>

#include "backends/llvm/link/process_file.h"

namespace strew::inline v0 {

void write_perf_map(std::span<const LinkedFunction> functions) {
  static ProcessFile* const file = new ProcessFile("STREW_PERF_MAP", "/tmp/perf-", ".map");
  std::ostringstream lines;
  for (const LinkedFunction& function : functions)
    lines << std::hex << reinterpret_cast<uintptr_t>(function.code) << ' ' << function.bytes << ' ' << function.name << '\n';
  file->append(lines.str());
}

}  // namespace strew::inline v0
