// Files through POSIX calls: their errno is the reason a message can give, and reading stops at the limit even when the file grows or
// is a device. Pending files live in the target's own directory, because rename does not cross file systems.
//
// Something that exists and is not a plain file (/dev/null, a pipe) is written in place: it must not be replaced.
// Tested by tests/unit/npy_test.cc and tests/error/cli_test.cc.
#include "runtime/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace strew {
namespace {

Status failure(const std::string& path, const char* what) { return io_error(path + ": " + what + ": " + std::strerror(errno)); }

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

/// First touches of small pages cost more than reading a file that is in the page cache.
void use_huge_pages(char* data, size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kPage = 4096;
  if (bytes < (size_t{4} << 20)) return;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) / kPage * kPage;
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failure(path, "cannot write");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace

Expected<std::string> read_file(const std::string& path, int64_t max_bytes) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return failure(path, "cannot read");
  struct stat info;
  if (fstat(file.fd, &info) != 0) return failure(path, "cannot read");
  if (S_ISDIR(info.st_mode)) return io_error(path + ": cannot read: it is a directory, expected a file");
  if (info.st_size > max_bytes) {
    return io_error(path + ": the file has " + std::to_string(info.st_size) + " bytes, expected at most " +
                    std::to_string(max_bytes));
  }
  std::string out;
  out.reserve(static_cast<size_t>(info.st_size > 0 ? info.st_size + 1 : 1 << 16));
  use_huge_pages(out.data(), out.capacity());
  out.resize(out.capacity());
  size_t used = 0;
  while (true) {
    if (used == out.size()) out.resize(out.size() * 2);
    const ssize_t n = read(file.fd, out.data() + used, out.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failure(path, "cannot read");
    if (n == 0) break;
    used += static_cast<size_t>(n);
    if (static_cast<int64_t>(used) > max_bytes) return io_error(path + ": more than " + std::to_string(max_bytes) + " bytes");
  }
  out.resize(used);
  return out;
}

Expected<std::vector<std::byte>> read_file_part(const std::string& path, int64_t offset, int64_t bytes) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};  // a pipe must not make it wait
  struct stat info;
  if (file.fd < 0 || fstat(file.fd, &info) != 0) return failure(path, "cannot read");
  if (!S_ISREG(info.st_mode)) return io_error(path + ": cannot read: it is not a plain file");
  const int64_t size = info.st_size;
  if (offset > size || bytes > size - offset) {
    return invalid_argument(path + ": the file has " + std::to_string(size) + " bytes, expected " + std::to_string(bytes) +
                            " at offset " + std::to_string(offset));
  }
  std::vector<std::byte> out(static_cast<size_t>(bytes));
  for (size_t used = 0; used < out.size();) {
    const ssize_t n =
        pread(file.fd, out.data() + used, out.size() - used, static_cast<off_t>(offset + static_cast<int64_t>(used)));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failure(path, "cannot read");
    if (n == 0) return io_error(path + ": cannot read: the file has become shorter");
    used += static_cast<size_t>(n);
  }
  return out;
}

Expected<PendingFile> PendingFile::write(const std::string& path, std::string_view bytes) {
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return io_error(path + ": cannot write: it is a directory, expected a file");
  const bool in_place = exists && !S_ISREG(info.st_mode);
  const std::string target = in_place ? path : path + ".tmp" + std::to_string(getpid());
  const Descriptor file{open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (file.fd < 0) return failure(path, "cannot write");
  PendingFile pending(path, in_place ? "" : target);
  STREW_TRY(write_all(file.fd, bytes, path));
  return pending;
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, std::string())) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

PendingFile::~PendingFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status PendingFile::commit() {
  if (temporary_.empty()) return {};
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return failure(path_, "cannot write");
  temporary_.clear();
  return {};
}

}  // namespace strew
