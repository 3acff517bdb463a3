// Looking into the folder of the disk cache without using it, for `strew cache` and `strew explain`. Tested by tests/error/cache_cli_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/pipeline.h"
#include "runtime/disk_cache/entry.h"
#include "runtime/disk_cache/prune.h"
#include "strew/options.h"
#include "strew/status.h"

namespace strew::inline v0 {

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
