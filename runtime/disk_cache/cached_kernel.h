// Kernels and the disk cache: the key of a planned kernel, and how a kernel is taken from a file instead of being built; and how `strew cache` and
// `strew explain` look into the folder without using it. Tested by tests/unit/runtime/disk_cache/disk_cache_test.cc and tests/error/cache_cli_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/pipeline.h"
#include "runtime/disk_cache/disk_cache.h"
#include "strew/options.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct BuiltKernel;

/// Is the planned kernel one of code, which the cache keeps? Others are interpreted, or programs for another machine.
bool is_cached(const Compiled& planned);
/// Its entry, without the object.
CacheEntry entry_of(const Compiled& planned);

/// The kernel from the cache; null if it is not there, and a failure in mode must_hit. The plan is used up only where there is a kernel.
Expected<std::shared_ptr<BuiltKernel>> find_kernel(DiskCache& cache, Compiled& planned);
/// Builds and links the kernel, and writes it to the cache. `go_on` is asked between the two, and if it fails, so does this. The plan is used up only
/// where that succeeds.
Expected<std::shared_ptr<BuiltKernel>> build_kernel(DiskCache& cache, Compiled& planned, const std::function<Status()>& go_on);

/// build() for callers who want the object itself: takes it from the cache, or builds and writes it.
Status build_object(DiskCache& cache, Compiled& planned);

// ---- Looking into the folder ----

/// A file of the folder, read whole.
struct InspectedFile {
  CacheFile file;
  CacheEntry entry;  ///< without its object
  int64_t object_bytes = 0;
  Status status;  ///< not ok: why strew would not use it
};

/// Where a kernel is, or would be.
struct CachedAt {
  std::string path;
  bool is_there = false;  ///< and of use
  std::string why;        ///< it is not there: the reason
};

/// What is in the folder; none if it is not there. Fails where open_safe_folder() does.
Expected<std::vector<InspectedFile>> inspect_cache(const std::string& folder);
/// Removes the files that were not used for the longest time, until the others take `limit` bytes.
Expected<Pruned> prune_cache(const std::string& folder, int64_t limit);
CachedAt where_is_cached(const Options& options, const Compiled& planned);

}  // namespace strew::inline v0
