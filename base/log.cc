// See log.h. Level and sink are two words: a level that is read before the sink is changed finds the new sink, or none. Tested by
// tests/unit/log_test.cc.
#include "base/log.h"

#include <atomic>

namespace strew::inline v0 {
namespace {

std::atomic<LogSink> process_sink{nullptr};
std::atomic<LogLevel> process_level{LogLevel::off};

}  // namespace

void set_log(LogSink sink, LogLevel level) {
  process_sink.store(sink);
  process_level.store(sink != nullptr ? level : LogLevel::off);
}

bool logs(LogLevel level) { return level != LogLevel::off && process_level.load(std::memory_order_relaxed) >= level; }

void log(LogLevel level, const std::string& line) {
  const LogSink sink = process_sink.load();
  if (sink != nullptr && logs(level)) sink(level, line);
}

}  // namespace strew::inline v0
