// Writing to the log (include/strew/log.h). Tested by tests/unit/base/log_test.cc.
#pragma once

#include <string>

#include "strew/export.h"
#include "strew/log.h"

namespace strew::inline v0 {

/// Are messages of this level wanted? Callers ask before they make the text of a line: the answer is one relaxed
/// load. The modules cannot call this function; they call log() at once.
bool logs(LogLevel level);
/// Passes `line` to the sink, or writes it to stderr, if messages of this level are wanted.
STREW_API void log(LogLevel level, const std::string& line);
/// The same at level warn, for warnings that are given once per process, perhaps before the program has set its sink:
/// the line is kept until somebody listens.
void log_or_keep_warning(const std::string& line);

}  // namespace strew::inline v0
