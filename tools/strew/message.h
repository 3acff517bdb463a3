// Exit statuses and messages: one line on stderr, whatever a file put into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strew/status.h"

namespace strew::cli {

enum ExitStatus : int { kDone = 0, kBadInput = 1, kBadUsage = 2, kOutOfBounds = 3, kInternal = 4 };

/// Reports a failure and returns its exit status. `op_text`, where known, goes into the report of an internal error.
int fail(const Status& status, std::string_view op_text = {});
int usage_error(const std::string& message);

/// A line of --verbose.
void note(std::string_view line);

/// Names that messages show in full, however long: the user typed them. Other words of a message, and what it quotes, are shortened: they
/// come from files.
void keep_whole(std::vector<std::string> names);

/// Control characters written as \n, \x1b and so on, so that text from a file stays on its line.
std::string printable(std::string_view text);

/// Writes to stdout; a full disk or closed pipe is an error like any other.
Status print_out(std::string_view text);

}  // namespace strew::cli
