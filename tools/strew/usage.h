// What a usage error says: an option that does not exist, one argument too many, a value that is missing. Tested by tests/error/cli_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strew::cli {

/// A command line that the parser refused.
struct RefusedLine {
  std::string command;               ///< "run", "wisdom merge"; empty: none was named
  std::vector<std::string> options;  ///< all names of the command's options, as "--output"
  std::vector<std::string> actions;  ///< the commands that may follow, as "list" after "cache"
  std::vector<std::string> left;     ///< arguments that the parser could not place
  std::string reason;                ///< the parser's own text
};
/// The message. Arguments without a place come first, because a misspelt option also makes others missing.
std::string usage_text(const RefusedLine& line);

/// Checks of option values. They return an empty text, or "it is 'VALUE', expected …".
std::string check_range(std::string_view text, int64_t least, int64_t most);
std::string check_choice(std::string_view text, const std::vector<std::string>& choices);

}  // namespace strew::cli
