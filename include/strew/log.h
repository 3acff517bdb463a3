// The log: lines about what the library does, given to a function that the program sets. Without such a function, the
// environment variable STREW_VERBOSE=LEVEL writes them to stderr, as in "strew: compile: built …"; otherwise the library
// prints nothing. Levels are cumulative: each has the lines of those before it. At level off, logging costs one load in calls
// that do more than the fast way does, and nothing in other calls. Tested by tests/unit/base/log_test.cc and options_effect_test.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "strew/export.h"

namespace strew::inline v0 {

enum class LogLevel : uint8_t {
  off,
  error,     ///< what must not happen: an internal error, or a difference from the reference. The call or request fails, too
  warn,      ///< what strew does without: a variable with a bad value, a file for a profiler that cannot be written
  cache,     ///< requests that did not find their kernel at once, and kernels that were forgotten
  dispatch,  ///< what a call did besides its kernel's work: it copied a whole operand, was interpreted, was repeated
  compile,   ///< a line per kernel that is built: its symbol, backend, schedule and time; and why a kernel is interpreted
  dump,      ///< a line per file that shows the insides of a kernel (STREW_DUMP, docs/options.md)
};
inline constexpr std::string_view kLogLevels[] = {"off", "error", "warn", "cache", "dispatch", "compile", "dump"};
constexpr std::string_view name(LogLevel level) { return kLogLevels[static_cast<uint8_t>(level)]; }

/// Receives each line, without a newline, on the thread whose work the line reports; several threads may call the sink
/// at once. It must not throw and must not call strew. The text is valid only during the call.
using LogSink = void (*)(LogLevel level, std::string_view line);

/// Sets the sink of the process; null removes it, and then STREW_VERBOSE counts again. Thread-safe. Warnings about the
/// environment that nobody has received yet are given to the sink at once, if it listens at level warn. A line that another
/// thread is writing may still reach the previous sink.
STREW_API void set_log(LogSink sink, LogLevel level = LogLevel::compile);

}  // namespace strew::inline v0
