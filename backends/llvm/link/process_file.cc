// See process_file.h.
#include "backends/llvm/link/process_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/write_quietly.h"

namespace strew::inline v0 {
namespace {

/// Opens the file and empties it. Returns its descriptor, or -1 with errno; EEXIST: what is there is not ours.
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
  errno = EEXIST;
  return -1;
}

}  // namespace

ProcessFile::ProcessFile(const char* variable, std::string before, std::string after, std::string (*begin)(int file))
    : variable_(variable), before_(std::move(before)), after_(std::move(after)), begin_(begin) {}

void ProcessFile::warn(int error) const {
  log(LogLevel::warn, std::string(variable_) + ": " + before_ + std::to_string(process_) + after_ + ": cannot write: " +
                          (error == EEXIST ? "a file or link that is not this process's has the name" : std::strerror(error)));
}

void ProcessFile::write_all(std::string_view bytes) {
  while (file_ >= 0 && !bytes.empty()) {
    const ssize_t n = write_quietly(file_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      warn(errno);
      close(std::exchange(file_, -1));
      return;
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void ProcessFile::open_own() {
  const pid_t process = getpid();
  if (process == process_) return;
  process_ = process;
  if (file_ >= 0) close(file_);  // the parent's
  file_ = open_safely(before_ + std::to_string(process) + after_);
  if (file_ < 0) return warn(errno);
  if (begin_ != nullptr) write_all(begin_(file_));
}

void ProcessFile::append(std::string_view bytes) {
  open_own();
  write_all(bytes);
}

}  // namespace strew::inline v0
