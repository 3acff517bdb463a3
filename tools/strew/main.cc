// main() of the program strew: parses the command line, runs the command, and turns an exception that escapes
// it into a message and an exit status. Tested by tests/error/cli_test.cc.
#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "strew/log.h"
#include "strew/options.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"
#include "tools/strew/signals.h"

namespace {

struct Command {
  const char* name;
  int (*run)(const strew::cli::Options&);
};
constexpr Command kCommands[] = {
    {"run", strew::cli::run},         {"check", strew::cli::check},     {"explain", strew::cli::explain},
    {"extract", strew::cli::extract}, {"compile", strew::cli::compile}, {"target", strew::cli::target},
    {"library", strew::cli::library}, {"tune", strew::cli::tune},       {"wisdom", strew::cli::wisdom},
    {"cache", strew::cli::cache},     {"splice", strew::cli::splice},
};

bool shows_errors = false, shows_calls = true;

/// Writes a line of the log to stderr. Errors are those of the command, which reports them itself.
void show(strew::LogLevel level, std::string_view line) {
  if (level == strew::LogLevel::warn) return strew::cli::warn(line);
  if (level == strew::LogLevel::error && !shows_errors) return;
  if (level == strew::LogLevel::dispatch && !shows_calls) return;
  strew::cli::note(std::string(name(level)) + ": " + std::string(line));
}

/// Shows more than warnings with --verbose or STREW_VERBOSE. With --time, calls are repeated and not logged; the making of
/// kernels is.
void start_log(const strew::cli::Options& options) {
  using strew::LogLevel;
  const LogLevel asked = std::max(strew::process_options().verbose, options.verbose ? LogLevel::compile : LogLevel::off);
  shows_errors = asked != LogLevel::off;
  shows_calls = !options.time;
  if (asked > LogLevel::warn) strew::set_log(show, asked);
}

}  // namespace

int main(int argc, char** argv) {
  strew::cli::Options options;
  try {
    strew::cli::handle_signals();
    strew::set_log(show, strew::LogLevel::warn);  // warnings are shown always
    const int status = strew::cli::parse_command_line(argc, argv, options);
    if (status >= 0) return status;
    start_log(options);
    for (const Command& command : kCommands) {
      if (options.command == command.name) return command.run(options);
    }
    return strew::cli::fail(strew::internal_error("command '" + options.command + "' has no function"));
  } catch (const std::bad_alloc&) {
    return strew::cli::fail(strew::resource_exhausted(options.file + ": out of memory"));
  } catch (const std::exception& error) {
    return strew::cli::fail(strew::internal_error(error.what()));
  }
}
