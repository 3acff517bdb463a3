// See safe_folder.h.
#include "runtime/disk_cache/safe_folder.h"

#include <dirent.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>
#include <filesystem>

namespace strew::inline v0 {
namespace {

constexpr int kMostLinks = 40;  // as many as Linux follows
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

Status failure(const std::string& at, const char* what) {
  return io_error(at + ": cannot " + what + ": " + std::strerror(errno));
}

/// Puts the names of a path before `rest`.
void push_names(std::string_view path, std::deque<std::string>& rest) {
  std::vector<std::string> names;
  for (const std::filesystem::path& name : std::filesystem::path(path).relative_path())
    if (!name.empty() && name != ".") names.push_back(name.string());
  rest.insert(rest.begin(), names.begin(), names.end());
}

Status check_owner(FolderCalls& calls, const struct stat& info, const std::string& name) {
  if (info.st_uid == 0 || info.st_uid == calls.user()) return {};
  return invalid_argument(name + ": it belongs to user " + std::to_string(info.st_uid) + ", expected user " +
                          std::to_string(calls.user()) + " or root");
}

/// The walk: `at` is the path of the open folder, for messages.
class FolderWalk {
 public:
  FolderWalk(FolderCalls& calls, FolderUse use) : calls_(calls), use_(use) {}

  Expected<OpenFile> run(const std::string& path) {
    STREW_TRY(restart());
    push_names(path, rest_);
    while (!rest_.empty()) {
      const std::string name = rest_.front();
      rest_.pop_front();
      STREW_TRY(step(name));
      if (is_missing_) return OpenFile();
    }
    struct stat info = {};
    if (calls_.status(folder_.get(), info) != 0) return failure(at_, "open");
    STREW_TRY(check_unshared(calls_, info, at_));
    return std::move(folder_);
  }

 private:
  /// Begins at the root, which must be safe, too.
  Status restart() {
    at_ = "/";
    return enter(AT_FDCWD, "/");
  }

  Status enter(int parent, const char* name) {
    OpenFile next(calls_, calls_.open(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0));
    if (!next) return failure(at_, "open");
    struct stat info = {};
    if (calls_.status(next.get(), info) != 0) return failure(at_, "open");
    STREW_TRY(check_owner(calls_, info, at_));
    if ((info.st_mode & S_ISVTX) == 0) STREW_TRY(check_unshared(calls_, info, at_));
    folder_ = std::move(next);
    return {};
  }

  Status step(const std::string& name) {
    const std::string here = at_;
    at_ += (at_.ends_with('/') ? "" : "/") + name;
    struct stat info = {};
    if (calls_.status_at(folder_.get(), name.c_str(), info) != 0) {
      if (errno != ENOENT) return failure(at_, "open");
      is_missing_ = use_ == FolderUse::read;
      if (is_missing_) return {};
      if (calls_.make_folder(folder_.get(), name.c_str()) != 0 && errno != EEXIST) return failure(at_, "make the folder");
      if (calls_.status_at(folder_.get(), name.c_str(), info) != 0) return failure(at_, "open");
    }
    if (S_ISLNK(info.st_mode)) return follow(name, here, info);
    if (!S_ISDIR(info.st_mode)) return io_error(at_ + ": it is no folder");
    return enter(folder_.get(), name.c_str());
  }

  Status follow(const std::string& name, const std::string& here, const struct stat& info) {
    STREW_TRY(check_owner(calls_, info, at_));
    if (++links_ > kMostLinks) return io_error(at_ + ": too many symbolic links");
    std::array<char, PATH_MAX> target;  // NOLINT: readlinkat fills it
    const ssize_t size = calls_.read_link(folder_.get(), name.c_str(), target.data(), target.size());
    if (size < 0 || size == static_cast<ssize_t>(target.size())) return failure(at_, "follow");
    const std::string_view path(target.data(), static_cast<size_t>(size));
    push_names(path, rest_);
    if (path.starts_with('/')) return restart();
    at_ = here;
    return {};
  }

  FolderCalls& calls_;
  const FolderUse use_;
  OpenFile folder_;
  std::string at_;
  std::deque<std::string> rest_;
  int links_ = 0;
  bool is_missing_ = false;
};

std::atomic<FolderCalls*> replaced{nullptr};

}  // namespace

bool FolderCalls::list(int folder, size_t most, std::vector<std::string>& out) {
  const int file = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // a position of its own
  if (file < 0) return false;
  DIR* const entries = fdopendir(file);
  if (entries == nullptr) {
    ::close(file);
    return false;
  }
  errno = 0;
  while (out.size() < most) {
    const dirent* const entry = readdir(entries);  // NOLINT(concurrency-mt-unsafe): no other thread reads this stream
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.emplace_back(name);
  }
  const int error = errno;
  closedir(entries);
  errno = error;
  return error == 0;
}

void FolderCalls::replace_system(FolderCalls* calls) { replaced = calls; }

FolderCalls& FolderCalls::system() {
  if (FolderCalls* const other = replaced) return *other;
  static FolderCalls* const calls = new FolderCalls;  // never destroyed: builds may run until the process ends
  return *calls;
}

Status check_unshared(FolderCalls& calls, const struct stat& info, const std::string& name) {
  STREW_TRY(check_owner(calls, info, name));
  if ((info.st_mode & kOthersWrite) == 0) return {};
  return invalid_argument(
      fmt::format("{}: its permissions are {:04o}, expected ones that let nobody but its owner write (chmod go-w)", name,
                  info.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)));
}

Expected<OpenFile> open_safe_folder(FolderCalls& calls, const std::string& path, FolderUse use) {
  if (!path.starts_with('/')) return invalid_argument("the folder '" + path + "' has no absolute path");
  return FolderWalk(calls, use).run(path);
}

}  // namespace strew::inline v0
