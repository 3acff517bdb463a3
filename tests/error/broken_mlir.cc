// See broken_mlir.h. A row whose piece is not in its file fails: it would test nothing.
#include "tests/error/broken_mlir.h"

#include <gtest/gtest.h>

#include "tests/support/limited.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

void check(const std::vector<BrokenMlir>& rows) {
  for (const BrokenMlir& row : rows) {
    const std::string text = replaced(row.file, row.from, row.to);
    EXPECT_EQ(import_message(text), row.message) << row.from << " -> " << row.to;
    const test::Refusal cli = test::refusal(text, ".mlir");
    EXPECT_EQ(cli.wrong, "") << cli.message;
    EXPECT_EQ(cli.message, row.message);
  }
}

}  // namespace strew
