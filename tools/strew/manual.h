// What the command line tells about itself besides --help: a manual page and completion for shells, made from the same description of commands
// and options (tools/strew/options.cc). Tested by tests/error/cli_test.cc and tests/install/install_test.py.
#pragma once

#include <string>
#include <vector>

namespace strew::cli {

struct ManualOption {
  std::vector<std::string> names;  ///< "-o", "--emit"; empty: an argument without a name
  std::string value;               ///< what stands for the argument in text, such as FILE; empty: a flag
  std::string text;
  std::vector<std::string> choices;  ///< values that a shell can offer; empty: files
};
struct ManualCommand {
  std::string name, text, example;
  std::vector<ManualOption> options;
};

/// Section 1 of the manual, as roff. `variables`: a line for each variable of the environment.
std::string manual_page(const std::vector<ManualCommand>& commands, const std::string& about, const std::string& variables);
std::string bash_completion(const std::vector<ManualCommand>& commands);
std::string zsh_completion(const std::vector<ManualCommand>& commands);

}  // namespace strew::cli
