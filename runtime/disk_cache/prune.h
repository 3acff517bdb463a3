// Pruning: what lies in the folder of a disk cache, and which files go when they take more than the limit: those that were not used for the longest
// time. A file's time of modification is when it was last used (DiskCache renews it once an hour), because many file systems keep no time of access.
// A clock that jumps does no harm: a time in the future counts as now, and is set right at the next use.
//
// Several processes may prune at the same time: a file that another one has removed is one less to remove. Temporary files of processes that were
// killed are removed an hour later. Tested by tests/unit/runtime/disk_cache/disk_cache_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/disk_cache/folder_calls.h"
#include "strew/status.h"

namespace strew::inline v0 {

constexpr int64_t kRefreshSeconds = 3600;  ///< how exact the time of the last use is

struct CacheFile {
  std::string name;
  int64_t bytes = 0;
  int64_t last_use = 0;  ///< seconds since 1970
  bool is_temporary = false;
};

/// The entries and temporary files in the folder, in no order; other files are none of ours. At most 200,000 names are looked at.
Expected<std::vector<CacheFile>> list_folder(FolderCalls& calls, int folder);

struct Pruned {
  int64_t files = 0, bytes = 0;  ///< that were removed
  int64_t files_left = 0, bytes_left = 0;
};
/// Removes entries until they take no more than `limit` bytes, and temporary files that nobody is writing any more. The Status is that of the first
/// file that the system refused to remove; the others are removed all the same.
Status prune_folder(FolderCalls& calls, int folder, int64_t limit, Pruned& out);

}  // namespace strew::inline v0
