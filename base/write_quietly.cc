// See write_quietly.h. The signal goes to the thread that writes, which blocks it and takes it afterwards. One that was pending before stays.
#include "base/write_quietly.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace strew::inline v0 {

ssize_t write_quietly(int file, const void* from, size_t bytes) {
  sigset_t signal, before, pending;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  sigemptyset(&pending);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &signal, &before);
  const ssize_t written = write(file, from, bytes);
  const int error = errno;
  constexpr timespec kNow{0, 0};
  if (written < 0 && error == EFBIG && !was_pending)
    while (sigtimedwait(&signal, nullptr, &kNow) < 0 && errno == EINTR) {
    }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

bool write_all_quietly(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write_quietly(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace strew::inline v0
