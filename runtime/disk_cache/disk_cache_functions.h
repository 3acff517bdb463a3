// DiskCacheFunctions: what the command line does with the disk cache, as a table of functions, because libstrew exports few names. The program gets at
// it through tuning_functions() (tune/tuning_functions.h). Within libstrew the functions are called by their own headers.
// Tested by tests/error/cache_cli_test.cc.
#pragma once

#include <string>
#include <string_view>
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

struct DiskCacheFunctions {
  std::string_view (*build_id)();
  /// "kernels" in strew's folder among the user's caches; empty if the environment names no such folder.
  std::string (*users_folder)();
  /// Runtimes that are made from now on with the process's options take their folder, mode and limit from these.
  void (*use_options)(const Options& options);
  /// The options that use_options() was called with, or the process's.
  const Options& (*options)();
  /// What is in the folder; none if it is not there. Fails where open_safe_folder() does.
  Expected<std::vector<InspectedFile>> (*inspect)(const std::string& folder);
  Expected<Pruned> (*prune)(const std::string& folder, int64_t limit);
  CachedAt (*where_is)(const Options& options, const Compiled& planned);
  /// build(), or the object from the cache.
  Status (*build)(const Options& options, Compiled& planned);
};
const DiskCacheFunctions& disk_cache_functions();

/// The options of runtimes that are made with the process's own.
const Options& options_of_process_runtimes();

}  // namespace strew::inline v0
