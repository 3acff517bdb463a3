// A table of broken MLIR files: each row changes one piece of a file that imports, and says what is then reported. Used by the error
// tests of the two dialects.
#pragma once

#include <string>
#include <vector>

namespace strew {

struct BrokenMlir {
  const char* file;
  std::string from, to, message;
};

/// `text` with every `from`, of which there must be one, made `to`.
std::string replaced(std::string text, const std::string& from, const std::string& to);

/// Each row's message, from the importer and from the program in a child of limited time and memory.
void check(const std::vector<BrokenMlir>& rows);

}  // namespace strew
