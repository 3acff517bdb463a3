// See safe_folder.h.
#include "runtime/disk_cache/safe_folder.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>

namespace strew::inline v0 {
namespace {

constexpr int kMostLinks = 40;  // as many as Linux follows
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

Status failure(const std::string& at, const char* what) {
  return io_error(at + ": cannot " + what + ": " + std::strerror(errno));
}

/// Puts the names of a path before `rest`.
void push_names(std::string_view path, std::deque<std::string>& rest) {
  std::deque<std::string> names;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    if (!name.empty() && name != ".") names.emplace_back(name);
  }
  rest.insert(rest.begin(), names.begin(), names.end());
}

std::string octal(mode_t mode) {
  std::string out = "0";
  for (int shift = 6; shift >= 0; shift -= 3) out += static_cast<char>('0' + ((mode >> shift) & 7));
  return out;
}

bool is_trusted(FolderCalls& calls, uid_t owner) { return owner == 0 || owner == calls.user(); }

Status check_owner(FolderCalls& calls, const struct stat& info, const std::string& name) {
  if (is_trusted(calls, info.st_uid)) return {};
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

}  // namespace

Status check_unshared(FolderCalls& calls, const struct stat& info, const std::string& name) {
  STREW_TRY(check_owner(calls, info, name));
  if ((info.st_mode & kOthersWrite) == 0) return {};
  return invalid_argument(name + ": its permissions are " + octal(info.st_mode) +
                          ", expected ones that let nobody but its owner write (chmod go-w)");
}

Expected<OpenFile> open_safe_folder(FolderCalls& calls, const std::string& path, FolderUse use) {
  if (!path.starts_with('/')) return invalid_argument("the folder '" + path + "' has no absolute path");
  return FolderWalk(calls, use).run(path);
}

}  // namespace strew::inline v0
