// The log: lines about what the library does, given to a function that the program sets. The library itself prints
// nothing. Without a sink, or at level off, logging costs one load in a call that copies a whole operand and nothing in
// other calls. Tested by tests/unit/log_test.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "strew/export.h"

namespace strew::inline v0 {

enum class LogLevel : uint8_t {
  off = 0,
  compile = 1,  ///< a line per kernel that is built: its symbol, backend, schedule and time
  call = 2,     ///< the same, and a line per call that copied a whole operand, with the bytes
};

/// Receives each line, without a newline, on the thread whose work the line reports; several threads may call the sink
/// at once. It must not throw and must not call strew. The text is valid only during the call.
using LogSink = void (*)(LogLevel level, std::string_view line);

/// Sets the sink of the process; null removes it. Thread-safe. A line that another thread is writing may still reach
/// the previous sink.
STREW_API void set_log(LogSink sink, LogLevel level = LogLevel::compile);

}  // namespace strew::inline v0
