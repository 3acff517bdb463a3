// See log.h. Level and sink are two atomics: a thread that read the level before set_log() calls the new sink or
// none. Until the log is used for the first time, the level is kUnread, which is greater than all others, so a single
// comparison in logs() is enough for messages that are not wanted. Tested by tests/unit/base/log_test.cc.
#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/options.h"
#include "base/write_quietly.h"

namespace strew::inline v0 {
namespace {

constexpr LogLevel kUnread{255};

std::atomic<LogSink> process_sink{nullptr};
std::atomic<LogLevel> process_level{kUnread};

/// Warnings that are kept until somebody listens, the last one first. The list has no lock, so a forked child can use
/// it.
struct Kept {
  std::string line;
  Kept* before;
};
std::atomic<Kept*> kept{nullptr};

/// The sink if the program has set none and STREW_VERBOSE is set. Each line is one write(), so that lines of several
/// threads do not mix. Control characters are replaced, so that each message stays one line.
void write_to_stderr(LogLevel level, std::string_view line) {
  std::string text = "strew: " + std::string(name(level)) + ": ";
  for (const char c : line) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  text += '\n';
  static_cast<void>(write_all_quietly(STDERR_FILENO, text));  // or the message is lost: there is no other place to report that
}

LogSink sink_without_program() { return environment().options.verbose == LogLevel::off ? nullptr : write_to_stderr; }

/// The level. The first call reads the environment, unless set_log() has been called.
LogLevel level_now() {
  LogLevel level = process_level.load(std::memory_order_relaxed);
  if (level != kUnread) return level;
  LogSink none = nullptr;
  process_sink.compare_exchange_strong(none, sink_without_program());
  process_level.compare_exchange_strong(level, environment().options.verbose);
  return process_level.load();
}

/// Passes the kept warnings to the sink, if it takes warnings.
void log_kept() {
  if (!logs(LogLevel::warn)) return;
  Kept* in_order = nullptr;
  for (Kept* each = kept.exchange(nullptr); each != nullptr;)
    in_order = std::exchange(each, std::exchange(each->before, in_order));
  while (in_order != nullptr) {
    log(LogLevel::warn, in_order->line);
    delete std::exchange(in_order, in_order->before);
  }
}

}  // namespace

void set_log(LogSink sink, LogLevel level) {
  process_sink.store(sink != nullptr ? sink : sink_without_program());
  process_level.store(sink != nullptr ? std::min(level, LogLevel::dump) : environment().options.verbose);
  process_options();  // keeps the warnings about the environment, if they have not been kept yet
  log_kept();
}

bool logs(LogLevel level) {
  if (level == LogLevel::off || process_level.load(std::memory_order_relaxed) < level) return false;
  return level_now() >= level;
}

void log(LogLevel level, const std::string& line) {
  if (!logs(level)) return;
  if (const LogSink sink = process_sink.load(); sink != nullptr) sink(level, line);
}

void log_or_keep_warning(const std::string& line) {
  Kept* const added = new Kept{line, kept.load()};
  while (!kept.compare_exchange_weak(added->before, added)) {
  }
  log_kept();
}

}  // namespace strew::inline v0
