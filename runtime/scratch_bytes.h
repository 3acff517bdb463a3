// How much scratch memory the calls of a kernel may take, known before there is a call. Tested by tests/error/cli_test.cc (`strew explain`).
#pragma once

#include <cstdint>

#include "backends/pipeline.h"
#include "strew/op.h"

namespace strew::inline v0 {

/// The most threads that a call may use.
inline int most_threads(const Compiled& kernel) { return kernel.threads != 0 ? kernel.threads : kernel.target.cores; }

/// The most bytes that a call needs; kDynamic if they depend on open extents. `scatter`: the kernel's op.
int64_t scratch_bytes(const Scatter& scatter, const Compiled& kernel);

}  // namespace strew::inline v0
