// See disk_cache.h.
#include "runtime/disk_cache/disk_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/fork_hooks.h"
#include "base/log.h"
#include "base/options.h"
#include "base/pending_file.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kPruneShare = 16;  // the folder is looked at after a process has written this share of the limit
constexpr size_t kMostNames = 200'000;
constexpr int64_t kAbandonedSeconds = 3600;

std::string reason() { return std::strerror(errno); }

/// One mutex for all disk caches, so that fork() has one to lock: a child must not find it held by a thread that it does not have.
std::mutex& mutex_of_all() {
  static std::mutex mutex;
  [[maybe_unused]] static const bool kIsHeld = (set_fork_hooks(ForkStage::disk_caches, hooks_that_hold<&mutex>()), true);
  return mutex;
}

/// Null: the process's options count. Never freed: a runtime may be reading them.
std::atomic<const Options*> chosen{nullptr};

}  // namespace

const Options& options_of_process_runtimes() {
  const Options* const options = chosen.load();
  return options == nullptr ? process_options() : *options;
}
void use_in_process_runtimes(const Options& options) { chosen = new Options(options); }

std::string users_cache_folder() {
  const std::string folder = user_cache_folder();
  return folder.empty() ? folder : folder + "/kernels";
}

DiskCache::Settings disk_cache_settings(const Options& options) {
  DiskCache::Settings out{options.cache_dir, options.cache_mode, options.cache_limit_bytes};
  if (out.folder.empty() || out.folder == "off") out.mode = CacheMode::off;
  if (out.mode == CacheMode::off) out.folder.clear();
  if (out.folder.empty() || out.folder.starts_with('/')) return out;
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(out.folder, failed);
  if (!failed) out.folder = absolute.string();
  return out;
}

Expected<std::vector<CacheFile>> list_folder(FolderCalls& calls, int folder) {
  std::vector<std::string> names;
  if (!calls.list(folder, kMostNames, names)) return io_error("cannot list the folder: " + reason());
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
      if (!is_gone && status.ok()) status = io_error(file.name + ": cannot remove: " + reason());
    }
    if (!file.is_temporary && is_gone) total -= file.bytes;
    (is_gone ? out.files : out.files_left) += file.is_temporary && !is_gone ? 0 : 1;
    (is_gone ? out.bytes : out.bytes_left) += file.is_temporary && !is_gone ? 0 : file.bytes;
  }
  return status;
}

Expected<CacheEntry> read_entry(FolderCalls& calls, int file, const std::string& name) {
  struct stat info = {};
  if (calls.status(file, info) != 0) return io_error(name + ": cannot read: " + reason());
  if (!S_ISREG(info.st_mode)) return invalid_argument(name + ": it is no regular file");
  STREW_TRY(check_unshared(calls, info, name));
  if (info.st_size > kMostEntryBytes)
    return invalid_argument(name + ": it has " + std::to_string(info.st_size) + " bytes, more than any kernel");
  std::string bytes(static_cast<size_t>(info.st_size) + 1, '\0');  // one more, to see that it ends there
  size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t n = calls.read(file, bytes.data() + used, bytes.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(name + ": cannot read: " + reason());
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  bytes.resize(used);
  auto entry = CacheEntry::decode(bytes);
  if (!entry.ok()) return invalid_argument(name + ": " + entry.status().message());
  return entry;
}

DiskCache::DiskCache(Settings settings, FolderCalls& calls) : settings_(std::move(settings)), calls_(calls) {
  if (settings_.folder.empty()) settings_.mode = CacheMode::off;
}

void DiskCache::note(Problem problem, const std::string& message) {
  (problem == Problem::shared || problem == Problem::damaged ? rejected_ : errors_).fetch_add(1, std::memory_order_relaxed);
  const bool is_new = !is_known_[static_cast<size_t>(problem)].exchange(true, std::memory_order_relaxed);
  if (is_new)
    log(LogLevel::warn, "disk cache: " + message + "; kernels are compiled instead (more of this kind is counted, not said)");
}

/// Null: there is no folder, or none to be trusted.
std::shared_ptr<const DiskCache::Folder> DiskCache::open_folder(FolderUse use) {
  const std::lock_guard lock(mutex_of_all());
  if (is_refused_) {
    rejected_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  struct stat info = {};
  // Did nobody change the folder's permissions, and is the descriptor still the one we opened? A program may have closed it.
  if (folder_ != nullptr && calls_.status(folder_->file.get(), info) == 0 && info.st_dev == folder_->info.st_dev &&
      info.st_ino == folder_->info.st_ino && check_unshared(calls_, info, settings_.folder).ok())
    return folder_;
  folder_ = nullptr;
  Expected<OpenFile> opened = open_safe_folder(calls_, settings_.folder, use);
  if (opened.ok() && !*opened) return nullptr;
  if (opened.ok() && calls_.status(opened->get(), info) == 0) {
    folder_ = std::make_shared<const Folder>(Folder{std::move(*opened), info});
    return folder_;
  }
  const bool is_shared = opened.status().code() == Code::invalid_argument;
  if (is_shared) is_refused_ = true;
  note(is_shared ? Problem::shared : Problem::folder,
       is_shared     ? opened.status().message() + "; no code is taken from " + settings_.folder
       : opened.ok() ? settings_.folder + ": " + reason()
                     : opened.status().message());
  return nullptr;
}

std::optional<std::string> DiskCache::look_up(const CacheEntry& key) {
  const auto folder = open_folder(FolderUse::read);
  if (folder == nullptr) return std::nullopt;
  const std::string name = key.file_name(), path = path_of(key);
  // O_NONBLOCK: a FIFO must not make us wait.
  const OpenFile file(calls_, calls_.open(folder->file.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0));
  if (!file) {
    // ESTALE: another machine has removed it. ELOOP: it is a link. ENXIO: it is a socket or the like.
    if (errno == ELOOP || errno == ENXIO)
      note(Problem::shared, path + ": it is no regular file");
    else if (errno != ENOENT && errno != ESTALE)
      note(Problem::read, path + ": cannot open: " + reason());
    return std::nullopt;
  }
  Expected<CacheEntry> entry = read_entry(calls_, file.get(), path);
  if (!entry.ok()) {
    note(entry.status().code() == Code::io ? Problem::read : Problem::damaged, entry.status().message());
    return std::nullopt;
  }
  if (!entry->has_key_of(key)) {
    note(Problem::damaged, path + ": it holds another kernel than its name says");
    return std::nullopt;
  }
  // The file was used: renews its time, where the last one is not of this hour. Nothing depends on it, and a folder that only root may write needs it not.
  struct stat info = {};
  if (writes() && calls_.status(file.get(), info) == 0 &&
      std::abs(calls_.now() - static_cast<int64_t>(info.st_mtim.tv_sec)) > kRefreshSeconds)
    calls_.touch(file.get());
  return std::move(entry->object);
}

Expected<std::optional<std::string>> DiskCache::find(const CacheEntry& key) {
  std::optional<std::string> object;
  if (is_off()) return object;
  object = look_up(key);
  (object ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed);
  if (object || settings_.mode != CacheMode::must_hit) return object;
  return unsupported("disk cache: no kernel for op " + key.op + " with schedule '" + key.schedule + "' for " + key.target +
                     " in " + settings_.folder + ", and mode must_hit compiles none");
}

void DiskCache::reject(const CacheEntry& key, const std::string& why) {
  hits_.fetch_sub(1, std::memory_order_relaxed);
  misses_.fetch_add(1, std::memory_order_relaxed);
  note(Problem::damaged, path_of(key) + ": " + why);
}

Expected<size_t> DiskCache::write(int folder, const CacheEntry& entry) {
  const std::string contents = entry.encode(), temporary = temporary_name();
  const auto failed = [&](const char* what) { return io_error(settings_.folder + ": cannot " + what + ": " + reason()); };
  if (temporary.empty()) return failed("name a file");
  constexpr mode_t kMode = S_IRUSR | S_IWUSR;
  OpenFile file(calls_, calls_.open(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY, kMode));
  if (!file) return failed("make a file");
  const auto drop = [&](const char* what) {
    Status status = failed(what);
    calls_.remove(folder, temporary.c_str());
    return status;
  };
  for (std::string_view rest = contents; !rest.empty();) {
    const ssize_t n = calls_.write(file.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return drop("write a file");
    rest.remove_prefix(static_cast<size_t>(n));
  }
  // Network file systems report a full disk or an exhausted quota only here.
  if (file.close() != 0 && errno != EINTR) return drop("write a file");
  if (calls_.rename(folder, temporary.c_str(), entry.file_name().c_str()) != 0) return drop("rename a file");
  return contents.size();
}

void DiskCache::publish(CacheEntry entry) {
  if (!writes() || static_cast<int64_t>(entry.object.size()) > std::min(settings_.limit_bytes, kMostEntryBytes / 2)) return;
  const auto folder = open_folder(FolderUse::write);
  if (folder == nullptr) return;
  entry.written = calls_.now();
  const Expected<size_t> written = write(folder->file.get(), entry);
  if (!written.ok()) {
    const std::lock_guard lock(mutex_of_all());
    folder_ = nullptr;  // it may have been removed, and another one made
    note(Problem::write, written.status().message());
    return;
  }
  published_.fetch_add(1, std::memory_order_relaxed);
  // Looks at the whole folder where this process has not done so before, and then each time that it has written a share of the limit.
  {
    const std::lock_guard lock(mutex_of_all());
    until_prune_ -= static_cast<int64_t>(*written);
    if (until_prune_ > 0) return;
    until_prune_ = settings_.limit_bytes / kPruneShare;
  }
  const pid_t process = getpid();
  if (prunes_.exchange(process) == process) return;
  Pruned pruned;
  if (const Status status = prune_folder(calls_, folder->file.get(), settings_.limit_bytes, pruned); !status.ok())
    note(Problem::remove, settings_.folder + ": " + status.message());
  prunes_ = 0;
}

void DiskCache::add_to(Runtime::Stats& stats) const {
  stats.disk_hits = hits_;
  stats.disk_misses = misses_;
  stats.disk_rejected = rejected_;
  stats.disk_published = published_;
  stats.disk_errors = errors_;
}

}  // namespace strew::inline v0
