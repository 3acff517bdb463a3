// See headroom.h. The check tries what it asks about: it maps an area of that size and splits it into many mappings,
// by giving every other page another protection. So every limit that refuses a mapping is covered (RLIMIT_AS,
// RLIMIT_DATA, vm.max_map_count, strict overcommit). No page is touched, so the limit of a memory cgroup, which ends
// processes that touch too much, is not covered. Another thread may take the memory a moment later: a failure inside
// the library that follows becomes unlikely, not impossible. Tested by tests/unit/base/headroom_test.cc.
#include "base/headroom.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace strew::inline v0 {
namespace {

/// The first number in a file of /proc, or the number of its lines. Allocates nothing.
int64_t first_number(const char* path, bool count_lines) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 4096> buffer{};
  int64_t number = 0;
  for (ssize_t n = 0; (n = read(file, buffer.data(), buffer.size())) > 0;) {
    for (ssize_t i = 0; i < n; ++i) {
      const char c = buffer[static_cast<size_t>(i)];
      if (count_lines)
        number += c == '\n';
      else if (c >= '0' && c <= '9')
        number = number * 10 + (c - '0');
    }
  }
  close(file);
  return number;
}

bool are_mappings_short(int wanted) {
  const int64_t most = first_number("/proc/sys/vm/max_map_count", false);
  return most != 0 && first_number("/proc/self/maps", true) + wanted >= most;
}

/// Maps `size` bytes and splits them; false if the system refuses. Each page with a protection of its own adds two
/// mappings.
bool try_mapping(size_t size, size_t writable, int mappings, size_t page) {
  void* const area = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return false;
  bool given = mprotect(area, writable, PROT_READ | PROT_WRITE) == 0;
  for (size_t i = 0; i < static_cast<size_t>(mappings) / 2 && given; ++i)
    given = mprotect(static_cast<char*>(area) + (2 * i + 1) * page, page, PROT_READ) == 0;
  munmap(area, size);
  return given;
}

}  // namespace

Status check_headroom(std::string_view what, Bytes bytes, int mappings) {
  constexpr size_t kWritable = size_t{32} << 20;  // the rest of a large library is code, which counts as address space only
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size = std::max(static_cast<size_t>(bytes.count()), (static_cast<size_t>(mappings) + 1) * page);
  if (try_mapping(size, std::min(size, kWritable), mappings, page)) return {};
  if (are_mappings_short(mappings)) {
    return resource_exhausted(std::string(what) + ": out of memory mappings: " + std::to_string(mappings) +
                              " more are needed, but the process has as many as it may have (sysctl vm.max_map_count)");
  }
  return resource_exhausted(std::string(what) + ": out of memory: " + std::to_string(size >> 20) +
                            " MiB more are needed, but the system refuses them (limits of the process: ulimit -v, ulimit -d)");
}

}  // namespace strew::inline v0
