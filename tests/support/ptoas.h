// The real ptoas, where there is one: the environment variable PTOAS, or PATH.
#pragma once

#include <optional>
#include <string>

namespace strew::test {

struct PtoasAnswer {
  bool accepted = false;
  std::string cpp;     ///< what it wrote
  std::string errors;  ///< lines with "error"
};

/// Where the tool is; nothing: there is none, and the tests of tests/ptoas are skipped.
std::optional<std::string> find_ptoas();
/// Runs it on PTO IR; `chip` is a3 or a5, `flags` go to it as they are.
PtoasAnswer run_ptoas(const std::string& tool, const std::string& text, const std::string& chip, const std::string& flags = "");

}  // namespace strew::test
