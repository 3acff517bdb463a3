// See isolated.h. The child sends its status through a pipe, as the number of the code and the message, and ends by _exit(), so that it
// flushes no buffer and runs no destructor that belongs to the parent.
#include "tune/isolated.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>

namespace strew::inline v0 {
namespace {

[[noreturn]] void run_child(const std::function<Status()>& work, int to) {
  // Handlers of the program must not run for a crash that is expected here.
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT}) std::signal(signal, SIG_DFL);
  Status status;
  try {
    status = work();
  } catch (const std::exception& error) {
    status = internal_error(error.what());
  }
  const std::string text = std::string(1, static_cast<char>('A' + static_cast<int>(status.code()))) + status.message();
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::write(to, text.data() + sent, text.size() - sent);
    if (n <= 0 && errno != EINTR) break;
    if (n > 0) sent += static_cast<size_t>(n);
  }
  _exit(0);
}

/// What the child has written until it closes the pipe or `seconds` have passed; `in_time` says which.
std::string read_pipe(int from, double seconds, bool& in_time) {
  std::string text;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    in_time = left > 0;
    if (!in_time) return text;
    pollfd waiting{from, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<long>(left, 60'000))) <= 0) continue;
    std::array<char, 4096> part;
    const ssize_t n = ::read(from, part.data(), part.size());
    if (n == 0) return text;
    if (n > 0) text.append(part.data(), static_cast<size_t>(n));
  }
}

}  // namespace

Status run_isolated(const std::function<Status()>& work, double seconds) {
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) return unsupported(std::string("isolated run: no pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_child(work, ends[1]);
  }
  close(ends[1]);
  bool in_time = true;
  const std::string text = child > 0 ? read_pipe(ends[0], seconds, in_time) : "";
  close(ends[0]);
  if (child < 0) return unsupported(std::string("isolated run: no process: ") + std::strerror(errno));
  if (!in_time) kill(child, SIGKILL);
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return internal_error("did not end within " + std::to_string(static_cast<int>(seconds)) + " s");
  if (WIFSIGNALED(ended)) return internal_error(std::string("crashed: ") + strsignal(WTERMSIG(ended)));
  if (text.empty() || WEXITSTATUS(ended) != 0) return internal_error("ended without a result");
  return text[0] == 'A' ? Status() : Status(static_cast<Code>(text[0] - 'A'), text.substr(1));
}

}  // namespace strew::inline v0
