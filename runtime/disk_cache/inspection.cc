// See inspection.h.
#include "runtime/disk_cache/inspection.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/disk_cache/cached_kernel.h"
#include "runtime/disk_cache/disk_cache.h"

namespace strew::inline v0 {
namespace {

DiskCache::Settings settings_for_reading(const std::string& folder) {
  Options options;
  options.cache_dir = folder;
  options.cache_mode = CacheMode::read_only;
  return disk_cache_settings(options);
}

/// The folder, open; a folder that is not there is an empty OpenFile.
Expected<OpenFile> open_folder(const std::string& folder) {
  return open_safe_folder(FolderCalls::system(), settings_for_reading(folder).folder, FolderUse::read);
}

InspectedFile inspect_file(FolderCalls& calls, int folder, const std::string& path, CacheFile file) {
  InspectedFile out{std::move(file), {}, 0, {}};
  const OpenFile open(calls, calls.open(folder, out.file.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0));
  if (!open) {
    out.status = io_error(path + "/" + out.file.name + ": cannot open: " + std::strerror(errno));
    return out;
  }
  Expected<CacheEntry> entry = read_entry(calls, open.get(), path + "/" + out.file.name);
  if (!entry.ok()) {
    out.status = entry.status();
    return out;
  }
  out.entry = std::move(*entry);
  out.object_bytes = static_cast<int64_t>(std::exchange(out.entry.object, std::string()).size());
  if (out.entry.file_name() != out.file.name)
    out.status = invalid_argument(path + "/" + out.file.name + ": it holds another kernel than its name says");
  return out;
}

}  // namespace

Expected<std::vector<InspectedFile>> inspect_cache(const std::string& folder) {
  STREW_ASSIGN(const OpenFile open, open_folder(folder));
  std::vector<InspectedFile> out;
  if (!open) return out;
  FolderCalls& calls = FolderCalls::system();
  STREW_ASSIGN(std::vector<CacheFile> files, list_folder(calls, open.get()));
  for (CacheFile& file : files)
    if (!file.is_temporary) out.push_back(inspect_file(calls, open.get(), folder, std::move(file)));
  return out;
}

Expected<Pruned> prune_cache(const std::string& folder, int64_t limit) {
  STREW_ASSIGN(const OpenFile open, open_folder(folder));
  Pruned out;
  if (!open) return out;
  const Status status = prune_folder(FolderCalls::system(), open.get(), limit, out);
  if (!status.ok()) return status.with_prefix(folder);
  return out;
}

CachedAt where_is_cached(const Options& options, const Compiled& planned) {
  CachedAt out;
  DiskCache::Settings settings = disk_cache_settings(options);
  if (settings.mode == CacheMode::off) {
    out.why = "the cache is off";
    return out;
  }
  if (!is_cached(planned)) {
    out.why = "only kernels with machine code are kept";
    return out;
  }
  const CacheEntry key = entry_of(planned);
  out.path = settings.folder + "/" + key.file_name();
  FolderCalls& calls = FolderCalls::system();
  const Expected<OpenFile> open = open_folder(settings.folder);
  if (!open.ok()) {
    out.why = open.status().message();
    return out;
  }
  struct stat info = {};
  if (!*open || (calls.status_at(open->get(), key.file_name().c_str(), info) != 0 && errno == ENOENT)) return out;
  const InspectedFile found = inspect_file(calls, open->get(), settings.folder, {key.file_name(), 0, 0, false});
  out.is_there = found.status.ok();
  out.why = found.status.message();
  return out;
}

}  // namespace strew::inline v0
