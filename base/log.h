// Writing to the log (include/strew/log.h).
#pragma once

#include <string>

#include "strew/export.h"
#include "strew/log.h"

namespace strew::inline v0 {

/// Does anybody listen at this level? One relaxed load. Callers ask before they make the text of a line; the modules, which
/// cannot call this, leave the question to log().
bool logs(LogLevel level);
/// Gives `line` to the sink or to stderr, if somebody listens at this level.
STREW_API void log(LogLevel level, const std::string& line);
/// The same at level warn, for what is said once per process, perhaps before the program has set its sink: the line is kept
/// until somebody listens.
void log_or_keep_warning(const std::string& line);

}  // namespace strew::inline v0
