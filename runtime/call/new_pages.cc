// See new_pages.h.
#include "runtime/call/new_pages.h"

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cstdint>

namespace strew::inline v0 {

bool has_new_pages(const void* data, Bytes bytes) {
#ifdef __linux__
  constexpr Bytes kLeast{1 << 20};
  if (bytes < kLeast) return false;
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t middle = (reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes.count()) / 2) / page * page;
  unsigned char is_there = 1;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address within `data`
  return mincore(reinterpret_cast<void*>(middle), page, &is_there) == 0 && (is_there & 1) == 0;
#else
  return data == nullptr && bytes > Bytes{0};
#endif
}

}  // namespace strew::inline v0
