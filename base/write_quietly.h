// write_quietly(): write() without the signal that ends a program whose file has reached the limit on sizes (RLIMIT_FSIZE). A library's own files,
// such as those of a cache, are no reason to end a program. Tested by tests/unit/base/write_quietly_test.cc.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>

#include "strew/export.h"

namespace strew::inline v0 {

/// write(2). Beyond the limit it fails with EFBIG, as for programs that ignore SIGXFSZ.
STREW_API ssize_t write_quietly(int file, const void* from, size_t bytes);
/// Writes all of it, also where a signal interrupts that. False: errno has the reason.
bool write_all_quietly(int file, std::string_view bytes);

}  // namespace strew::inline v0
