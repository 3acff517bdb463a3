// What repeats rows of expr_ops.def and dtypes.def, because no C++ reads it: the dictionaries of the fuzzers, and lists in the documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "strew/expr.h"
#include "tests/support/paths.h"

namespace strew {
namespace {

using ::testing::HasSubstr;

std::string contents(const char* path) {
  std::stringstream text;
  text << std::ifstream(test::source_folder() / path).rdbuf();
  return text.str();
}

/// The document as one line: sentences go on behind the end of a line.
std::string joined_lines(const char* path) {
  std::string text = contents(path);
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

TEST(Rows, TheDictionaryOfOpsHasEveryOperatorAndDType) {
  const std::string words = contents("tests/fuzz/dictionaries/strew.dict");
  for (const ExprOpInfo& row : expr_ops()) EXPECT_THAT(words, HasSubstr("\n\"" + std::string(row.name) + "(\"\n"));
  for (int i = 0; i < kDTypeCount; ++i)
    EXPECT_THAT(words, HasSubstr("\n\"" + std::string(name(static_cast<DType>(i))) + "[\"\n"));
}

TEST(Rows, TheDictionaryOfMlirHasEveryOperation) {
  const std::string words = contents("tests/fuzz/dictionaries/stablehlo.dict");
  const auto has = [&](const std::string& dialect, const std::string& name) {
    EXPECT_TRUE(dialect.empty() || words.find("\n\"" + dialect + "." + name + "\"\n") != std::string::npos)
        << dialect << "." << name;
  };
  const auto has_name = [&](const std::string& name) {
    EXPECT_TRUE(name.empty() || words.find("\n\"" + name + "\"\n") != std::string::npos) << name;
  };
#define STREW_MLIR_NAMES(op, name, arity, arguments, result, onnx, opset, tflite, hlo, mlir_floats, mlir_integers) \
  has(hlo, name);                                                                                                  \
  has_name(mlir_floats);                                                                                           \
  has_name(mlir_integers);
  STREW_EXPR_OPS(STREW_MLIR_NAMES)
#undef STREW_MLIR_NAMES
}

/// Operators that are no comparisons and have no name in StableHLO or CHLO.
TEST(Rows, TheDocumentOfTextListsTheNamesThatAreStrewsOwn) {
  std::string names, comparisons;
  const auto add = [&](ExprOp op, std::string_view hlo) {
    if (info(op).arity == 0 || !hlo.empty()) return;
    if (is_comparison(op))
      comparisons += (comparisons.empty() ? "" : " ") + std::string(name(op));
    else
      names += (names.empty() ? "`" : ", `") + std::string(name(op)) + "`";
  };
#define STREW_HLO(op, name, arity, arguments, result, onnx, opset, tflite, hlo, ...) add(ExprOp::op, hlo);
  STREW_EXPR_OPS(STREW_HLO)
#undef STREW_HLO
  EXPECT_THAT(joined_lines("docs/op_text.md"),
              HasSubstr("names of strew's own are " + names + ", and the comparisons `" + comparisons + "`"));
}

TEST(Rows, TheDocumentOfMeaningListsTheDTypes) {
  std::string computed, moved;
  for (int i = 0; i < kDTypeCount; ++i) {
    std::string& list = info(static_cast<DType>(i)).arithmetic ? computed : moved;
    list += (list.empty() ? "" : ", ") + std::string(name(static_cast<DType>(i)));
  }
  EXPECT_THAT(joined_lines("docs/semantics.md"), HasSubstr(computed + "; movement only: " + moved + "."));
}

}  // namespace
}  // namespace strew
