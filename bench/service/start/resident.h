// print_resident(): what the process has in memory, in KiB, on stdout.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace strew::bench {

inline int print_resident() {
  std::FILE* const status = std::fopen("/proc/self/status", "re");
  char line[256];
  while (status != nullptr && std::fgets(line, sizeof line, status) != nullptr)
    if (std::strncmp(line, "VmHWM:", 6) == 0) std::printf("%ld\n", std::strtol(line + 6, nullptr, 10));
  return status == nullptr ? 1 : std::fclose(status);
}

}  // namespace strew::bench
