// Writing to the log (include/strew/log.h).
#pragma once

#include <string>

#include "strew/log.h"

namespace strew::inline v0 {

/// Does a sink listen at this level? Callers ask before they make the text of a line.
bool logs(LogLevel level);
/// Gives `line` to the sink, if one listens at this level.
void log(LogLevel level, const std::string& line);

}  // namespace strew::inline v0
