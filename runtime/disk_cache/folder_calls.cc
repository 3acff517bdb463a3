// See folder_calls.h.
#include "runtime/disk_cache/folder_calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/write_quietly.h"

namespace strew::inline v0 {

int FolderCalls::open(int folder, const char* name, int flags, mode_t mode) {
  return openat(folder, name, flags | O_CLOEXEC, mode);
}
int FolderCalls::close(int file) { return ::close(file); }
ssize_t FolderCalls::read(int file, void* to, size_t bytes) { return ::read(file, to, bytes); }
ssize_t FolderCalls::write(int file, const void* from, size_t bytes) { return write_quietly(file, from, bytes); }
int FolderCalls::status(int file, struct stat& out) { return fstat(file, &out); }
int FolderCalls::status_at(int folder, const char* name, struct stat& out) {
  return fstatat(folder, name, &out, AT_SYMLINK_NOFOLLOW);
}
int FolderCalls::rename(int folder, const char* from, const char* to) { return renameat(folder, from, folder, to); }
int FolderCalls::remove(int folder, const char* name) { return unlinkat(folder, name, 0); }
int FolderCalls::make_folder(int folder, const char* name) { return mkdirat(folder, name, S_IRWXU); }
int FolderCalls::touch(int file) { return futimens(file, nullptr); }
ssize_t FolderCalls::read_link(int folder, const char* name, char* to, size_t bytes) {
  return readlinkat(folder, name, to, bytes);
}

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

int64_t FolderCalls::now() { return std::time(nullptr); }
uid_t FolderCalls::user() { return geteuid(); }

namespace {
std::atomic<FolderCalls*> replaced{nullptr};
}  // namespace

void FolderCalls::replace_system(FolderCalls* calls) { replaced = calls; }

FolderCalls& FolderCalls::system() {
  if (FolderCalls* const other = replaced) return *other;
  static FolderCalls* const calls = new FolderCalls;  // never destroyed: builds may run until the process ends
  return *calls;
}

OpenFile::OpenFile(OpenFile&& other) noexcept : calls_(other.calls_), file_(std::exchange(other.file_, -1)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(calls_, other.calls_);
  std::swap(file_, other.file_);
  return *this;
}

OpenFile::~OpenFile() {
  if (file_ >= 0) calls_->close(file_);
}

int OpenFile::close() { return calls_->close(std::exchange(file_, -1)); }

}  // namespace strew::inline v0
