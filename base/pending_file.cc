// See pending_file.h.
//
// Names: a temporary file has 128 random bits in its name and is opened with O_EXCL and O_NOFOLLOW. So it never
// writes through a link or into a file that another user has placed there. It is in the target's directory, because
// rename() does not cross file systems.
//
// Permissions: a new file gets 0666 without the bits of the umask. A replaced file keeps its permission bits, and its
// owner and group if the process may set them. If the group cannot be kept, its permissions are reduced to those of
// others. Set-user-id and set-group-id bits are dropped, as the kernel does on a write. Other hard links to a
// replaced file keep the old contents.
//
// Links: a link at the end of the path is followed, because it is the user who named the output. As under the
// kernel's protected_symlinks, a link is refused if another user placed it in a sticky directory that all may write
// to (/tmp). Tested by tests/unit/base/file_test.cc and tests/error/signal_test.cc.
#include "base/pending_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/printable.h"
#include "base/write_quietly.h"

namespace strew::inline v0 {

/// A node of the list of temporary files. Nodes are reused and never freed, so a signal handler may walk the list at
/// any moment. The code that exchanges `name` for null owns the string: a PendingFile frees it; a signal handler must
/// not call free, so it moves the string to `removed`.
struct Registered {
  std::atomic<char*> name{nullptr};
  std::atomic<char*> removed{nullptr};
  Registered* next = nullptr;
};

namespace {

constexpr int kMaxLinks = 40;  // as many as Linux follows

std::atomic<Registered*> list_of_pending{nullptr};

Registered* enter(char* copy) {
  for (Registered* place = list_of_pending.load(); place != nullptr; place = place->next) {
    char* none = nullptr;
    if (place->name.compare_exchange_strong(none, copy)) return place;
  }
  auto* place = new Registered;
  place->name = copy;
  place->next = list_of_pending.load();
  while (!list_of_pending.compare_exchange_weak(place->next, place)) {
  }
  return place;
}

Status failure(const std::string& path) { return io_error(path + ": cannot write: " + std::strerror(errno)); }

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Ok if a link is in no sticky directory that all may write to, or belongs to this user or to the directory's owner.
Status check_link(const std::string& path, const std::string& link, const struct stat& info) {
  struct stat folder;
  if (stat(folder_of(link).c_str(), &folder) != 0) return failure(path);
  const bool shared = (folder.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
  if (!shared || info.st_uid == geteuid() || info.st_uid == folder.st_uid) return {};
  return io_error(path + ": cannot write: " + link + " is a symbolic link of user " + std::to_string(info.st_uid) +
                  " in a directory that all may write to, expected one of your own");
}

Status read_link(const std::string& path, const std::string& link, std::string& out) {
  std::array<char, PATH_MAX> text;  // NOLINT: readlink fills it
  const ssize_t size = readlink(link.c_str(), text.data(), text.size());
  if (size < 0) return failure(path);
  if (size == static_cast<ssize_t>(text.size())) {
    errno = ENAMETOOLONG;
    return failure(path);
  }
  out.assign(text.data(), static_cast<size_t>(size));
  return {};
}

/// The absolute path of the file that `path` leads to when links at its end are followed. The file need not exist.
Expected<std::string> resolve(const std::string& path) {
  std::string at = path;
  for (int links = 0;; ++links) {
    struct stat info;
    if (lstat(at.c_str(), &info) != 0) {
      if (errno != ENOENT) return failure(path);
      break;
    }
    if (!S_ISLNK(info.st_mode)) break;
    if (links == kMaxLinks) {
      errno = ELOOP;
      return failure(path);
    }
    STREW_TRY(check_link(path, at, info));
    std::string next;
    STREW_TRY(read_link(path, at, next));
    at = next.starts_with('/') ? next : folder_of(at) + "/" + next;
  }
  const size_t slash = at.rfind('/');
  const std::string name = slash == std::string::npos ? at : at.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return io_error(path + ": cannot write: expected the name of a file");
  const std::unique_ptr<char, decltype(&std::free)> folder(realpath(folder_of(at).c_str(), nullptr), std::free);
  if (folder == nullptr) return failure(path);
  const std::string prefix(folder.get());
  return prefix + (prefix.ends_with('/') ? "" : "/") + name;
}

/// Gives a new file the owner, group and permissions of the old one, as far as the process may set them.
Status keep_permissions(int fd, const struct stat& old, const std::string& path) {
  struct stat now;
  if (fstat(fd, &now) != 0) return failure(path);
  mode_t mode = old.st_mode & 0777;
  bool group_kept = old.st_gid == now.st_gid;
  if (old.st_uid != now.st_uid && fchown(fd, old.st_uid, old.st_gid) == 0) group_kept = true;
  if (!group_kept) group_kept = fchown(fd, static_cast<uid_t>(-1), old.st_gid) == 0;
  if (!group_kept) mode = (mode & 0707) | (mode & 070 & (mode << 3));
  return fchmod(fd, mode) == 0 ? Status() : failure(path);
}

constexpr std::string_view kTemporary = ".strew-", kTemporaryEnding = ".tmp";
constexpr size_t kRandomBytes = 16;

}  // namespace

std::string temporary_name() {
  std::array<char, kRandomBytes> bytes;  // NOLINT: getrandom fills it
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  return std::string(kTemporary) + hex_digits({bytes.data(), bytes.size()}) + std::string(kTemporaryEnding);
}

bool is_temporary_name(std::string_view name) {
  return name.size() == kTemporary.size() + 2 * kRandomBytes + kTemporaryEnding.size() && name.starts_with(kTemporary) &&
         name.ends_with(kTemporaryEnding) && is_hex(name.substr(kTemporary.size(), 2 * kRandomBytes));
}

void remove_pending_files() noexcept {
  const int saved = errno;
  for (Registered* place = list_of_pending.load(); place != nullptr; place = place->next) {
    char* name = place->name.exchange(nullptr);
    if (name == nullptr) continue;
    unlink(name);
    place->removed = name;
  }
  errno = saved;
}

Status PendingFile::open_in_place() {
  fd_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  struct stat info;
  if (fd_ < 0 || fstat(fd_, &info) != 0) return failure(path_);
  // Between stat() and open() another process may have put a regular file there. It must not be overwritten in place.
  return S_ISREG(info.st_mode) ? io_error(path_ + ": cannot write: it has just become a regular file; try again") : Status();
}

Status PendingFile::open_beside() {
  STREW_ASSIGN(target_, resolve(path_));
  const std::string name = temporary_name();
  if (name.empty()) return failure(path_);
  temporary_ = folder_of(target_) + "/" + name;
  struct stat old;
  const bool replaces = lstat(target_.c_str(), &old) == 0;
  name_ = new char[temporary_.size() + 1];
  std::memcpy(name_, temporary_.c_str(), temporary_.size() + 1);
  registered_ = enter(name_);  // before the file exists, so that a signal in between removes it, too
  fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, replaces ? 0600 : 0666);
  if (fd_ < 0) {
    const Status status = failure(path_);
    forget();  // a file of that name exists and is not ours
    return status;
  }
  return replaces ? keep_permissions(fd_, old, path_) : Status();
}

Expected<PendingFile> PendingFile::create(const std::string& path) {
  PendingFile pending;
  pending.path_ = path;
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return failure(path);
  if (exists && S_ISDIR(info.st_mode)) return io_error(path + ": cannot write: it is a directory, expected a file");
  STREW_TRY(exists && !S_ISREG(info.st_mode) ? pending.open_in_place() : pending.open_beside());
  return pending;
}

Expected<PendingFile> PendingFile::create(const std::string& path, std::string_view bytes) {
  STREW_ASSIGN(PendingFile pending, create(path));
  STREW_TRY(pending.write(bytes));
  STREW_TRY(pending.close());
  return pending;
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, std::string())),
      registered_(std::exchange(other.registered_, nullptr)),
      name_(std::exchange(other.name_, nullptr)),
      fd_(std::exchange(other.fd_, -1)) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(target_, other.target_);
  std::swap(temporary_, other.temporary_);
  std::swap(registered_, other.registered_);
  std::swap(name_, other.name_);
  std::swap(fd_, other.fd_);
  return *this;
}

PendingFile::~PendingFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  forget();
}

void PendingFile::forget() {
  temporary_.clear();
  char* expected = name_;
  if (registered_ != nullptr && registered_->name.compare_exchange_strong(expected, nullptr)) delete[] name_;
  registered_ = nullptr;
  name_ = nullptr;
}

Status PendingFile::write(std::string_view bytes) { return write_all_quietly(fd_, bytes) ? Status() : failure(path_); }

Status PendingFile::close() {
  if (fd_ < 0) return {};
  // Network file systems report a full disk only here.
  return ::close(std::exchange(fd_, -1)) == 0 || errno == EINTR ? Status() : failure(path_);
}

Status PendingFile::commit() {
  STREW_TRY(close());
  if (temporary_.empty()) return {};
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) return failure(path_);
  forget();
  return {};
}

}  // namespace strew::inline v0
