// main() of the program strew: parses the command line, runs the command, and turns an exception that escapes
// it into a message and an exit status. Tested by tests/error/cli_test.cc.
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "base/options.h"
#include "strew/log.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"
#include "tools/strew/signals.h"

namespace {

struct Command {
  const char* name;
  int (*run)(const strew::cli::Options&);
};
constexpr Command kCommands[] = {
    {"run", strew::cli::run},         {"check", strew::cli::check},   {"explain", strew::cli::explain},
    {"compile", strew::cli::compile}, {"target", strew::cli::target},
};

/// Writes the log to stderr with --verbose. With --time, calls are repeated and not logged; the making of kernels is.
void start_log(const strew::cli::Options& options) {
  strew::set_log([](strew::LogLevel, std::string_view line) { strew::cli::note(line); },
                 options.time ? strew::LogLevel::compile : strew::LogLevel::call);
}

/// Prints a warning; the command continues.
void warn(const std::string& message) {
  const std::string line = "warning: " + strew::cli::printable(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

int main(int argc, char** argv) {
  strew::cli::Options options;
  try {
    strew::cli::handle_signals();
    const int status = strew::cli::parse_command_line(argc, argv, options);
    if (status >= 0) return status;
    for (const std::string& warning : strew::take_option_warnings()) warn(warning);
    if (options.verbose) start_log(options);
    for (const Command& command : kCommands) {
      if (options.command == command.name) return command.run(options);
    }
    return strew::cli::fail(strew::internal_error("command '" + options.command + "' has no function"));
  } catch (const std::bad_alloc&) {
    return strew::cli::fail(strew::invalid_argument(options.file + ": out of memory"));
  } catch (const std::exception& error) {
    return strew::cli::fail(strew::internal_error(error.what()));
  }
}
