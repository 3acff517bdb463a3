// See file.h. Files are read by POSIX calls, whose errno gives messages a reason. Reading stops at the limit even if
// the file grows meanwhile.
//
// The type of a file is checked before it is opened, because opening a device may have effects, and again afterwards,
// because the file may have been replaced. O_NONBLOCK makes that open return at once if it is a FIFO by then; it has
// no effect on regular files. Tested by tests/unit/base/file_test.cc and tests/error/cli_test.cc.
#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace strew::inline v0 {

/// A node of the list of mapped files, which a SIGBUS handler may walk at any moment. Nodes are therefore reused and
/// never freed, and the name of an unmapped file is freed only after its node no longer holds the address range.
struct MappedFile {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<char*> name{nullptr};
  MappedFile* next = nullptr;
};

namespace {

std::atomic<MappedFile*> mapped_files{nullptr};

MappedFile* enter(const std::string& path, const void* base, size_t length) {
  MappedFile* place = mapped_files.load();
  for (; place != nullptr; place = place->next) {
    bool taken = false;
    if (place->taken.compare_exchange_strong(taken, true)) break;
  }
  if (place == nullptr) {
    place = new MappedFile;
    place->taken = true;
    place->next = mapped_files.load();
    while (!mapped_files.compare_exchange_weak(place->next, place)) {
    }
  }
  char* name = new char[path.size() + 1];
  std::memcpy(name, path.c_str(), path.size() + 1);
  place->name = name;
  place->begin = reinterpret_cast<uintptr_t>(base);
  place->end = reinterpret_cast<uintptr_t>(base) + length;
  return place;
}

Status failure(const std::string& path, const char* what) { return io_error(path + ": " + what + ": " + std::strerror(errno)); }

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISSOCK(mode)) return "a socket";
  return "no regular file";
}

Status check_regular(const struct stat& info, const std::string& path) {
  if (S_ISREG(info.st_mode)) return {};
  return io_error(path + ": cannot read: it is " + kind_of(info.st_mode) + ", expected a regular file");
}

Status too_large(const std::string& path, int64_t bytes, int64_t max_bytes) {
  return io_error(path + ": the file has " + (bytes < 0 ? "more bytes" : std::to_string(bytes) + " bytes") +
                  ", expected at most " + std::to_string(max_bytes) + " (--max-file-bytes)");
}

/// Asks for huge pages: with small pages, the page faults of a new buffer cost more than reading a file from the page
/// cache.
void use_huge_pages(char* data, size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kPage = 4096;
  if (bytes < (size_t{4} << 20)) return;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) / kPage * kPage;
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // only a hint: nothing depends on it
#endif
}

/// Reads from the descriptor's position to the end, at most `max_bytes`. `size`: how many bytes are expected.
Expected<std::string> read_rest(int fd, int64_t size, int64_t max_bytes, const std::string& path) {
  std::string out;
  out.reserve(static_cast<size_t>(size > 0 ? size + 1 : 1 << 16));
  use_huge_pages(out.data(), out.capacity());
  out.resize(out.capacity());
  size_t used = 0;
  while (true) {
    if (used == out.size()) out.resize(out.size() * 2);
    const ssize_t n = ::read(fd, out.data() + used, out.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failure(path, "cannot read");
    if (n == 0) break;
    used += static_cast<size_t>(n);
    if (static_cast<int64_t>(used) > max_bytes) return too_large(path, -1, max_bytes);
  }
  out.resize(used);
  return out;
}

}  // namespace

FileMap::~FileMap() {
  registered_->begin = 0;
  registered_->end = 0;
  delete[] registered_->name.exchange(nullptr);
  registered_->taken = false;
  munmap(base_, length_);
}

const char* mapped_file_at(const void* address) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const MappedFile* file = mapped_files.load(); file != nullptr; file = file->next)
    if (at >= file->begin.load() && at < file->end.load()) return file->name.load();
  return nullptr;
}

Expected<InputFile> InputFile::open(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return failure(path, "cannot read");
  STREW_TRY(check_regular(info, path));
  InputFile file(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.fd_ < 0 || fstat(file.fd_, &info) != 0) return failure(path, "cannot read");
  STREW_TRY(check_regular(info, path));
  file.size_ = info.st_size;
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

Status InputFile::read(int64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t n = pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failure(path_, "cannot read");
    if (n == 0)
      return io_error(path_ + ": cannot read: it ends at byte " + std::to_string(offset) +
                      ", expected more; it has become shorter");
    to = to.subspan(static_cast<size_t>(n));
    offset += n;
  }
  return {};
}

Expected<std::shared_ptr<const FileMap>> InputFile::map(int64_t offset, int64_t bytes) const {
  if (offset > size_ || bytes > size_ - offset || bytes == 0) {
    return invalid_argument(path_ + ": the file has " + std::to_string(size_) + " bytes, expected " + std::to_string(bytes) +
                            " at offset " + std::to_string(offset));
  }
  const int64_t page = sysconf(_SC_PAGESIZE), before = offset % page;
  const auto length = static_cast<size_t>(before + bytes);
  void* base = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, fd_, static_cast<off_t>(offset - before));
  if (base == MAP_FAILED) return failure(path_, "cannot map");
  std::shared_ptr<FileMap> out(new FileMap);
  out->base_ = base;
  out->length_ = length;
  out->bytes_ = {static_cast<const std::byte*>(base) + before, static_cast<size_t>(bytes)};
  out->registered_ = enter(path_, base, length);
  return std::shared_ptr<const FileMap>(std::move(out));
}

Expected<std::string> read_file(const std::string& path, int64_t max_bytes) {
  STREW_ASSIGN(const InputFile file, InputFile::open(path));
  if (file.size() > max_bytes) return too_large(path, file.size(), max_bytes);
  return read_rest(file.fd_, file.size(), max_bytes, path);
}

Expected<std::string> read_standard_input(int64_t max_bytes) { return read_rest(STDIN_FILENO, 0, max_bytes, "standard input"); }

}  // namespace strew::inline v0
