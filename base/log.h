// The verbose log: what the library would say if it printed, which it never does. One switch with levels; off, it costs nothing but where
// a call copies a whole operand, where it costs one load.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strew {

enum class LogLevel : uint8_t {
  off = 0,
  compile = 1,  ///< a line per kernel built: its symbol, backend, schedule and time
  call = 2,     ///< and one per call that copied a whole operand, with the bytes
};

/// Gets each line, without a newline, on the thread that it is about; several threads may call it at once. It must not throw or call strew.
using LogSink = void (*)(LogLevel level, std::string_view line);

/// Sets the process's sink, or with null none. Thread-safe; a line that is on its way may still reach the sink before.
void set_log(LogSink sink, LogLevel level = LogLevel::compile);

/// For the library itself: is anybody listening at this level, and if so, tell them.
bool logs(LogLevel level);
void log(LogLevel level, const std::string& line);

}  // namespace strew
