// See signals.h. The handlers call only async-signal-safe functions: remove_pending_files(), mapped_file_at(), write(),
// sigaction(), raise() and _exit().
//
// A signal that is ignored when the process starts (nohup) stays ignored. The process ends by the signal itself, so
// that its parent sees the reason. Handlers run on a stack of their own, because a stack overflow raises SIGSEGV.
// Tested by tests/error/signal_test.cc.
#include "tools/strew/signals.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "base/file.h"
#include "base/pending_file.h"
#include "tools/strew/message.h"

namespace strew::cli {
namespace {

constexpr int kEnding[] = {SIGHUP,  SIGINT,  SIGQUIT,   SIGTERM, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2,
                           SIGXCPU, SIGPROF, SIGVTALRM, SIGABRT, SIGSEGV, SIGILL,  SIGFPE,  SIGSYS};

void end_process_by(int signal) {
  remove_pending_files();
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  // The signal is blocked while its handler runs and is delivered when the handler returns. Without raise(), only a
  // fault would occur again.
  raise(signal);
}

void write_all(const char* text) {
  for (size_t left = std::strlen(text); left > 0;) {
    const ssize_t n = write(STDERR_FILENO, text, left);
    if (n <= 0) return;
    text += n;
    left -= static_cast<size_t>(n);
  }
}

void end_by_bus_error(int signal, siginfo_t* info, void*) {
  const char* file = mapped_file_at(info->si_addr);
  if (file == nullptr) return end_process_by(signal);
  remove_pending_files();
  // Control characters of the name become '?': to escape them as in other messages would need memory.
  std::array<char, 4096> name = {};
  for (size_t i = 0; i + 1 < name.size() && file[i] != 0; ++i) name[i] = static_cast<unsigned char>(file[i]) < 32 ? '?' : file[i];
  write_all("error: ");
  write_all(name.data());
  write_all(": cannot read: it has become shorter while it was in use, or its storage failed\n");
  _exit(kBadInput);
}

}  // namespace

void handle_signals() {
  static std::array<std::byte, 1 << 16> stack;
  stack_t alternate = {};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  sigaltstack(&alternate, nullptr);

  for (const int signal : kEnding) {
    struct sigaction before = {};
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction handler = {};
    handler.sa_handler = end_process_by;
    handler.sa_flags = SA_ONSTACK;
    sigfillset(&handler.sa_mask);
    sigaction(signal, &handler, nullptr);
  }
  struct sigaction bus = {};
  bus.sa_sigaction = end_by_bus_error;
  bus.sa_flags = SA_ONSTACK | SA_SIGINFO;
  sigaction(SIGBUS, &bus, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace strew::cli
