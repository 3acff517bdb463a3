// Exit statuses and messages: a failure is one line on stderr, whatever text from a file it quotes. Tested by
// tests/error/cli_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "strew/status.h"

namespace strew::cli {

enum ExitStatus : int { kDone = 0, kBadInput = 1, kBadUsage = 2, kOutOfBounds = 3, kInternal = 4 };

/// Prints the message of a failure and returns the exit status, which for ok is that of success. `op_text`: the op, for
/// the report of an internal error.
int fail(const Status& status, std::string_view op_text = {});
int usage_error(const std::string& message);

/// Prints a line of the log, for --verbose.
void note(std::string_view line);
/// Prints a warning; the command goes on.
void warn(std::string_view message);

/// Sets the names that messages show in full: those that the user typed. Other long words and quoted texts, which come
/// from files, are shortened.
void keep_whole(std::vector<std::string> names);

/// Writes to stdout. A full disk or a closed pipe is an error.
Status print_out(std::string_view text);

}  // namespace strew::cli
