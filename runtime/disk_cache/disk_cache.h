// DiskCache: compiled kernels as files in a folder, so that the next process that wants one does not compile it. One file per kernel (entry.h). Any
// number of processes and versions of strew use a folder at the same time; no file is ever changed:
//
//  - A kernel is written to a temporary file in the folder, which is then renamed. Readers see a whole file or none, on NFS too. Two processes that
//    write the same kernel write the same code, and the later rename wins.
//  - A file is read, not mapped: a mapped file that another machine truncates would end the process.
//  - Nothing is flushed to the disk (fsync). After a crash of the system a file may have holes; its checksum says so, and it is made again.
//  - Files are removed only when all together take more than the limit (below), and a reader that has one open goes on reading.
//
// Whatever is wrong with the folder or a file, the answer is that there is no kernel, which costs a compilation. It is counted, and the first problem
// of each kind is a warning in the log. Code is taken only from a folder that others cannot write to (safe_folder.h) and from files that belong to the
// user or to root. Thread-safe. docs/service.md, "The disk cache". Tested by tests/unit/runtime/disk_cache/disk_cache_test.cc and
// disk_cache_faults_test.cc.
//
// Pruning: what lies in the folder of a disk cache, and which files go when they take more than the limit: those that were not used for the longest
// time. A file's time of modification is when it was last used (DiskCache renews it once an hour), because many file systems keep no time of access.
// A clock that jumps does no harm: a time in the future counts as now, and is set right at the next use.
//
// Several processes may prune at the same time: a file that another one has removed is one less to remove. Temporary files of processes that were
// killed are removed an hour later.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/disk_cache/entry.h"
#include "runtime/disk_cache/safe_folder.h"
#include "strew/options.h"
#include "strew/runtime.h"
#include "strew/status.h"

namespace strew::inline v0 {

class DiskCache {
 public:
  struct Settings {
    std::string folder;  ///< empty, or "off": there is no cache
    CacheMode mode = CacheMode::read_write;
    int64_t limit_bytes = int64_t{256} << 20;
  };
  explicit DiskCache(Settings settings, FolderCalls& calls = FolderCalls::system());

  bool is_off() const { return settings_.mode == CacheMode::off; }
  /// Is a kernel that is not there an error?
  bool must_hit() const { return settings_.mode == CacheMode::must_hit; }
  bool writes() const { return settings_.mode == CacheMode::read_write; }
  /// Absolute; empty if the cache is off.
  const std::string& folder() const { return settings_.folder; }
  std::string path_of(const CacheEntry& key) const { return settings_.folder + "/" + key.file_name(); }

  /// The object of the kernel with this key, if there is a file with it. Fails only in mode must_hit, if there is none.
  Expected<std::optional<std::string>> find(const CacheEntry& key);
  /// The object that find() gave is of no use after all.
  void reject(const CacheEntry& key, const std::string& why);
  /// Writes the entry, unless the mode says not to; then removes files if there are too many.
  void publish(CacheEntry entry);

  /// Fills in the disk_ members.
  void add_to(Runtime::Stats& stats) const;

 private:
  enum class Problem : uint8_t { folder, shared, damaged, read, write, remove, count };
  struct Folder {
    OpenFile file;
    struct stat info = {};
  };

  std::shared_ptr<const Folder> open_folder(FolderUse use);
  std::optional<std::string> look_up(const CacheEntry& key);
  /// Returns how many bytes the file has.
  Expected<size_t> write(int folder, const CacheEntry& entry);
  void note(Problem problem, const std::string& message);

  Settings settings_;
  FolderCalls& calls_;
  // Guarded by the mutex of all disk caches:
  std::shared_ptr<const Folder> folder_;
  bool is_refused_ = false;  ///< others can write to the folder
  int64_t until_prune_ = 0;  ///< bytes that may be published before the next look at the whole folder

  std::atomic<pid_t> prunes_{0};  ///< in which process a thread does; a forked child has no such thread
  std::atomic<uint64_t> hits_{0}, misses_{0}, rejected_{0}, published_{0}, errors_{0};
  std::array<std::atomic<bool>, static_cast<size_t>(Problem::count)> is_known_ = {};
};

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

/// Reads and decodes an open file. invalid_argument: it is not to be trusted, or damaged. `name` begins the message.
Expected<CacheEntry> read_entry(FolderCalls& calls, int file, const std::string& name);

/// The settings that the options name. A relative folder is one of the current folder of this moment.
DiskCache::Settings disk_cache_settings(const Options& options);

/// The options of runtimes that are made with the process's own: those given last to use_in_process_runtimes(), or else the process's.
const Options& options_of_process_runtimes();
/// For the command line, whose --cache says where kernels are kept.
void use_in_process_runtimes(const Options& options);
/// "kernels" in strew's folder among the user's caches; empty if the environment names no such folder.
std::string users_cache_folder();

}  // namespace strew::inline v0
