// See prune.h.
#include "runtime/disk_cache/prune.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/pending_file.h"
#include "runtime/disk_cache/entry.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMostNames = 200'000;
constexpr int64_t kAbandonedSeconds = 3600;

}  // namespace

Expected<std::vector<CacheFile>> list_folder(FolderCalls& calls, int folder) {
  std::vector<std::string> names;
  if (!calls.list(folder, kMostNames, names)) return io_error(std::string("cannot list the folder: ") + std::strerror(errno));
  const int64_t now = calls.now();
  std::vector<CacheFile> out;
  for (std::string& name : names) {
    const bool is_temporary = is_temporary_name(name);
    if (!is_temporary && !is_entry_name(name)) continue;
    struct stat info = {};
    if (calls.status_at(folder, name.c_str(), info) != 0 || !S_ISREG(info.st_mode)) continue;  // gone, or not ours
    int64_t time = info.st_mtim.tv_sec;
    // Whoever is writing a temporary file may have another clock, but not another one by hours.
    if (!is_temporary) time = std::min(time, now);
    out.push_back({std::move(name), info.st_size, time, is_temporary});
  }
  return out;
}

Status prune_folder(FolderCalls& calls, int folder, int64_t limit, Pruned& out) {
  STREW_ASSIGN(std::vector<CacheFile> files, list_folder(calls, folder));
  const int64_t now = calls.now();
  // Temporary files first, then the entries by their last use.
  std::sort(files.begin(), files.end(), [](const CacheFile& a, const CacheFile& b) {
    return a.is_temporary != b.is_temporary ? a.is_temporary : a.last_use < b.last_use;
  });
  int64_t total = 0;
  for (const CacheFile& file : files)
    if (!file.is_temporary) total += file.bytes;
  Status status;
  for (const CacheFile& file : files) {
    const bool is_wanted = file.is_temporary ? std::abs(now - file.last_use) <= kAbandonedSeconds : total <= limit;
    bool is_gone = false;
    if (!is_wanted) {
      is_gone = calls.remove(folder, file.name.c_str()) == 0 || errno == ENOENT;
      if (!is_gone && status.ok()) status = io_error(file.name + ": cannot remove: " + std::strerror(errno));
    }
    if (!file.is_temporary && is_gone) total -= file.bytes;
    (is_gone ? out.files : out.files_left) += file.is_temporary && !is_gone ? 0 : 1;
    (is_gone ? out.bytes : out.bytes_left) += file.is_temporary && !is_gone ? 0 : file.bytes;
  }
  return status;
}

}  // namespace strew::inline v0
