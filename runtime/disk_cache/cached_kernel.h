// Kernels and the disk cache: the key of a planned kernel, and how a kernel is taken from a file instead of being built.
// Tested by tests/unit/runtime/disk_cache/disk_cache_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "backends/pipeline.h"
#include "runtime/disk_cache/disk_cache.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct BuiltKernel;

/// Is the planned kernel one of code, which the cache keeps? Others are interpreted, or programs for another machine.
bool is_cached(const Compiled& planned);
/// Its entry, without the object.
CacheEntry entry_of(const Compiled& planned);

enum class IfMissing : uint8_t {
  as_mode_says,  ///< mode must_hit: a failure; else null
  null,
};
/// The kernel from the cache. The plan is used up only where there is a kernel.
Expected<std::shared_ptr<BuiltKernel>> find_kernel(DiskCache& cache, Compiled& planned,
                                                   IfMissing if_missing = IfMissing::as_mode_says);
/// Builds and links the kernel, and writes it to the cache. `go_on` is asked between the two, and if it fails, so does this. The plan is used up only
/// where that succeeds.
Expected<std::shared_ptr<BuiltKernel>> build_kernel(DiskCache& cache, Compiled& planned, const std::function<Status()>& go_on);

/// build() for callers who want the object itself: takes it from the cache, or builds and writes it.
Status build_object(DiskCache& cache, Compiled& planned);

}  // namespace strew::inline v0
