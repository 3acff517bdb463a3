// Pieces of MLIR's text: strings, locations, names.
#include "compiler/splice/text.h"

#include <gtest/gtest.h>

#include "compiler/import/mlir_tokens.h"

namespace strew {
namespace {

TEST(SpliceText, StringsEscapeWhatMlirEscapes) {
  EXPECT_EQ(mlir_string("a \"b\" \\ c\n\x7f\xc3"), R"("a \22b\22 \5C c\0A\7F\C3")");
  EXPECT_EQ(mlir_string(""), "\"\"");
}

TEST(SpliceText, LocationsOfOperationsAndArgumentsGo) {
  EXPECT_EQ(without_locations(R"m(%0 = a.b %x : i32 loc("f"("g.py":1:2 to :3)))m"), "%0 = a.b %x : i32");
  EXPECT_EQ(without_locations("^bb0(%a: f32 loc(#loc2), %b: f32 loc(unknown)):"), "^bb0(%a: f32, %b: f32):");
  EXPECT_EQ(without_locations(R"m(a.b {x = " loc(y)"} loc(callsite("(" at "b)")))m"), R"m(a.b {x = " loc(y)"})m");
  EXPECT_EQ(without_locations("a.bloc(x) // loc(y)\n"), "a.bloc(x) // loc(y)\n");
}

std::string names(const std::string& text, char mark) {
  std::string out;
  each_name(text, mark, [&](size_t begin, size_t end) { out += text.substr(begin, end - begin) + " "; });
  return out;
}

TEST(SpliceText, NamesStandOutsideOfStringsAndComments) {
  EXPECT_EQ(names("%0 = f(%a.b-c, %12x) \"%no\" // %no\n%4#1 %-", '%'), "%0 %a.b-c %12 %4 %- ");
  EXPECT_EQ(names(R"(@f @"a b" "@no" @g.h)", '@'), R"(@f @"a b" @g.h )");
  EXPECT_EQ(names("#map #stablehlo.gather<x = #loc1>", '#'), "#map #stablehlo.gather #loc1 ");
  EXPECT_EQ(names("\"open %a", '%'), "");
}

}  // namespace
}  // namespace strew
