// See process_file.h.
#include "backends/llvm/link/process_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace strew::inline v0 {
namespace {

/// Opens the file and empties it. Returns its descriptor, or -1.
int open_safely(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const int made = open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0600);
  if (made >= 0 || errno != EEXIST) return made;
  const int found = open(path.c_str(), kFlags);
  struct stat info;
  const bool ours =
      found >= 0 && fstat(found, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() && info.st_nlink == 1;
  if (ours && ftruncate(found, 0) == 0) return found;
  if (found >= 0) close(found);
  return -1;
}

void write_all(int file, std::string_view bytes) {
  while (file >= 0 && !bytes.empty()) {
    const ssize_t n = write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

ProcessFile::ProcessFile(std::string before, std::string after, std::string (*begin)(int file))
    : before_(std::move(before)), after_(std::move(after)), begin_(begin) {}

void ProcessFile::open_own() {
  const pid_t process = getpid();
  if (process == process_) return;
  process_ = process;
  if (file_ >= 0) close(file_);  // the parent's
  file_ = open_safely(before_ + std::to_string(process) + after_);
  if (file_ >= 0 && begin_ != nullptr) write_all(file_, begin_(file_));
}

void ProcessFile::append(std::string_view bytes) {
  open_own();
  write_all(file_, bytes);
}

}  // namespace strew::inline v0
