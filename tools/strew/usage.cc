// See usage.h. CLI11 finds out that a command line is wrong; its texts are replaced here by ones that name the argument, the value and what was
// expected. Its reasons are told apart by their words, because options.cc is the only file that includes it. Tested by
// tests/error/cli_test.cc.
#include "tools/strew/usage.h"

#include <charconv>
#include <limits>

#include "base/nearest.h"

namespace strew::cli {
namespace {

std::string help_of(const std::string& command) { return "`strew" + (command.empty() ? "" : " " + command) + " --help`"; }

/// "a, b or c"
std::string list_of(const std::vector<std::string>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

/// The argument without its value: "--ouput" of "--ouput=y.npy".
std::string name_of(const std::string& argument) { return argument.substr(0, argument.find('=')); }

}  // namespace

std::string usage_text(const RefusedLine& line) {
  for (const std::string& argument : line.left) {
    if (argument.size() < 2 || argument[0] != '-') continue;
    const std::string name = name_of(argument), near = did_you_mean(name, line.options);
    return "unknown option '" + name + "'" + (near.empty() ? "; " + help_of(line.command) + " lists the options" : near);
  }
  std::string actions;
  for (const std::string& each : line.actions) actions += (actions.empty() ? "" : ", ") + each;
  if (!line.left.empty() && !line.actions.empty()) return "'" + line.left.front() + "' is unknown, expected one of: " + actions;
  if (!line.left.empty())
    return "'" + line.left.front() + "' is one argument too many; " + help_of(line.command) + " shows what " +
           (line.command.empty() ? "strew" : line.command) + " takes";
  const std::string& reason = line.reason;
  const auto ends_with = [&](std::string_view end) { return reason.ends_with(end); };
  if (reason == "A subcommand is required") return line.command + ": what to do is missing, expected one of: " + actions;
  if (ends_with(" is required"))
    return reason.substr(0, reason.size() - std::string_view(" is required").size()) + ": it is missing; " +
           help_of(line.command) + " shows an example";
  if (ends_with(" missing") && reason.find(": ") != std::string::npos)  // "--emit: 1 required TEXT missing"
    return reason.substr(0, reason.find(": ")) + ": its value is missing; " + help_of(line.command) + " says what it takes";
  constexpr std::string_view kConvert = "Could not convert: ";
  if (const size_t is = reason.find(" = "); reason.starts_with(kConvert) && is != std::string::npos)
    return reason.substr(kConvert.size(), is - kConvert.size()) + ": it is '" + reason.substr(is + 3) + "', expected a number";
  return reason;
}

std::string check_range(std::string_view text, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return {};
  return "it is '" + std::string(text) + "', expected " +
         (most == std::numeric_limits<int64_t>::max() ? std::to_string(least) + " or more"
                                                      : std::to_string(least) + ".." + std::to_string(most));
}

std::string check_choice(std::string_view text, const std::vector<std::string>& choices) {
  for (const std::string& each : choices)
    if (each == text) return {};
  return "it is '" + std::string(text) + "', expected " + list_of(choices);
}

}  // namespace strew::cli
