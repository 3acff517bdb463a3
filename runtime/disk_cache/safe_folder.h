// open_safe_folder: opens a folder that nobody but this user and root can put files into, and says why not where others can. Code is run from the
// folder, so whoever can write to it, or can put another folder in its place, could run code in this process.
//
// The path is walked from the root, one name at a time, each relative to the open folder before it. Every folder on the way must belong to the user
// or to root, and must not be writable by group or others, unless it is sticky as /tmp is, where nobody can replace what belongs to somebody else.
// A symbolic link on the way must belong to the user or to root too; its target is walked in the same way. Access lists (ACLs) need no look: they
// show in the group's bits. Tested by tests/unit/runtime/disk_cache/safe_folder_test.cc.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "base/write_quietly.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The system calls that the disk cache makes. Names are relative to the descriptor of an open folder, so a folder that is replaced between two calls
/// changes nothing. Tests replace the calls by ones that fail. A call that fails leaves its reason in errno.
class FolderCalls {
 public:
  virtual ~FolderCalls() = default;

  virtual int open(int folder, const char* name, int flags, mode_t mode) { return openat(folder, name, flags | O_CLOEXEC, mode); }
  virtual int close(int file) { return ::close(file); }
  virtual ssize_t read(int file, void* to, size_t bytes) { return ::read(file, to, bytes); }
  virtual ssize_t write(int file, const void* from, size_t bytes) { return write_quietly(file, from, bytes); }
  virtual int status(int file, struct stat& out) { return fstat(file, &out); }
  virtual int status_at(int folder, const char* name, struct stat& out) {  ///< of a link: its own
    return fstatat(folder, name, &out, AT_SYMLINK_NOFOLLOW);
  }
  virtual int rename(int folder, const char* from, const char* to) { return renameat(folder, from, folder, to); }
  virtual int remove(int folder, const char* name) { return unlinkat(folder, name, 0); }
  virtual int make_folder(int folder, const char* name) {
    return mkdirat(folder, name, S_IRWXU);
  }                                                                ///< that only the user may enter
  virtual int touch(int file) { return futimens(file, nullptr); }  ///< its time of modification is now
  virtual ssize_t read_link(int folder, const char* name, char* to, size_t bytes) { return readlinkat(folder, name, to, bytes); }
  /// The names in the folder but "." and "..", at most `most`. False: the system refused.
  virtual bool list(int folder, size_t most, std::vector<std::string>& out);
  virtual int64_t now() { return std::time(nullptr); }  ///< seconds since 1970, as in the times of files
  virtual uid_t user() { return geteuid(); }            ///< whose rights the process has

  static FolderCalls& system();
  /// From now on, system() is `calls`, which lives as long as anything uses it; null: the calls themselves. For tests of runtimes.
  static void replace_system(FolderCalls* calls);
};

/// A descriptor that is closed at the end.
class OpenFile {
 public:
  OpenFile() = default;
  OpenFile(FolderCalls& calls, int file) : calls_(&calls), file_(file) {}
  OpenFile(OpenFile&& other) noexcept : calls_(other.calls_), file_(std::exchange(other.file_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(calls_, other.calls_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~OpenFile() {
    if (file_ >= 0) calls_->close(file_);
  }

  int get() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }
  int close() { return calls_->close(std::exchange(file_, -1)); }  ///< what the call returned

 private:
  FolderCalls* calls_ = nullptr;
  int file_ = -1;
};

enum class FolderUse {
  read,   ///< a folder that is not there is an empty OpenFile
  write,  ///< folders that are missing are made, with access for the user only
};

/// `path` must be absolute. Code::io: the system refused. Code::invalid_argument: others can write there.
Expected<OpenFile> open_safe_folder(FolderCalls& calls, const std::string& path, FolderUse use);

/// Ok if nobody but the user and root can change what has this owner and these permissions. `name` begins the message.
Status check_unshared(FolderCalls& calls, const struct stat& info, const std::string& name);

}  // namespace strew::inline v0
