// The table of limits in docs/security.md says what the code says: every row names a constant and the file that defines it.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "tests/support/paths.h"

namespace strew {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The value of `name = 1 << 20`, `(int64_t{1} << 31) - 1`, `10'000` or the like; -1 where it has another form or is not there.
int64_t value_of(const std::string& code, const std::string& name) {
  std::smatch found;
  const std::regex definition("\\b" + name + R"( = \(?(?:size_t|int64_t)?\{?([0-9']+)\}?(?: << ([0-9]+))?\)?( - 1)?[;,])");
  if (!std::regex_search(code, found, definition)) return -1;
  std::string digits = found[1];
  std::erase(digits, '\'');
  const int64_t value = std::stoll(digits) << (found[2].matched ? std::stoi(found[2]) : 0);
  return value - (found[3].matched ? 1 : 0);
}

TEST(Limits, TheDocumentHasTheConstants) {
  const std::string document = text_of(test::source_folder() / "docs/security.md");
  const std::regex row(R"(\n\| [^|]+ \| ([0-9]+) \| ([a-z_/]+\.(?:cc|h)) (k[A-Za-z]+) \|)");
  int rows = 0;
  for (std::sregex_iterator it(document.begin(), document.end(), row), end; it != end; ++it, ++rows)
    EXPECT_EQ(value_of(text_of(test::source_folder() / std::string((*it)[2])), (*it)[3]), std::stoll((*it)[1])) << (*it)[0];
  EXPECT_GE(rows, 30);
}

}  // namespace
}  // namespace strew
