// Texts with calls for parts that the test chooses: the order of statements, names, and which statements go.
#include <gmock/gmock.h>

#include "tests/unit/compiler/splice/splice_testing.h"

namespace strew {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string rewritten_text(const std::string& text) {
  PartitionOptions options;
  options.needs_kernel = true;
  const Expected<std::string> out = rewritten(text, options);
  return out.ok() ? short_text(*out) : out.status().message();
}

/// The rows of the second scatter are made behind a reader of the first one: with one call for both, that reader has to wait.
std::string waiting(const std::string& inner, const std::string& last = "%1") {
  const std::string other = "stablehlo.custom_call @other";
  return module(kArguments, "tensor<8x3xf32>, tensor<4x3xf32>",
                scatter("%0", "%x", "%i", "%u") + "    %r = " + other + "(%0) : (tensor<8x3xf32>) -> tensor<4x3xf32>\n" +
                    "    %s = \"stablehlo.sort\"(%u) ({\n    ^bb0(" + inner +
                    ": tensor<f32>, %b: tensor<f32>):\n      %c = stablehlo.compare LT, " + inner +
                    ", %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n      stablehlo.return %c : tensor<i1>\n    }) : "
                    "(tensor<4x3xf32>) -> tensor<4x3xf32>\n" +
                    scatter(last, "%0", "%i", "%s") + "    return " + last + ", %r : tensor<8x3xf32>, tensor<4x3xf32>\n");
}

TEST(SpliceRewrite, WhatACallReadsStandsBeforeItAndItsReadersBehind) {
  const std::string out = rewritten_text(waiting("%a"));
  EXPECT_THAT(out, HasSubstr("{\n    %s = \"stablehlo.sort\"(%u) ({\n"));
  EXPECT_THAT(out, HasSubstr("tensor<4x3xf32>\n    %0, %1 = stablehlo.custom_call @strew("));
  EXPECT_THAT(out,
              HasSubstr("tensor<8x3xf32>)\n    %r = stablehlo.custom_call @other(%0) : (tensor<8x3xf32>) -> tensor<4x3xf32>\n"
                        "    return %1, %r"));
}

TEST(SpliceRewrite, ANameOfARegionThatTheBlockDefinesBehindItIsReplaced) {
  // %1 names an argument of the region before it names the result of the second scatter. The call, which defines it, may stand before the region.
  const std::string out = rewritten_text(waiting("%1"));
  EXPECT_THAT(out, HasSubstr("^bb0(%strew0: tensor<f32>, %b: tensor<f32>):\n      %c = stablehlo.compare LT, %strew0, %b"));
  EXPECT_THAT(out, HasSubstr("    %0, %1 = stablehlo.custom_call @strew("));
}

TEST(SpliceRewrite, StatementsThatOthersReadStay) {
  const std::string text =
      module(kArguments, "tensor<8x3xf32>, tensor<4x3xf32>",
             "    %c = stablehlo.constant dense<1> : tensor<4x1xi32> // ones\n    // shared\n" + scatter("%0", "%x", "%c", "%u") +
                 "    %d = stablehlo.custom_call @other(%c, %u) : (tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<4x3xf32>\n" +
                 "    return %0, %d : tensor<8x3xf32>, tensor<4x3xf32>\n");
  EXPECT_EQ(rewritten_text(text),
            module(kArguments, "tensor<8x3xf32>, tensor<4x3xf32>",
                   "    %c = stablehlo.constant dense<1> : tensor<4x1xi32>\n"
                   "    %0 = stablehlo.custom_call @strew(%x, %u) : (tensor<8x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>\n"
                   "    %d = stablehlo.custom_call @other(%c, %u) : (tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<4x3xf32>\n"
                   "    return %0, %d : tensor<8x3xf32>, tensor<4x3xf32>\n"));
}

TEST(SpliceRewrite, ACallInARegionReadsWhatACallAroundItMakes) {
  const std::string body =
      scatter("%0", "%x", "%i", "%u") +
      "    %n = stablehlo.custom_call @other(%0) : (tensor<8x3xf32>) -> tensor<i1>\n"
      "    %1 = \"stablehlo.if\"(%n) ({\n" +
      scatter("%2", "%0", "%i", "%u", "q") +
      "      stablehlo.return %2 : tensor<8x3xf32>\n    }, {\n      stablehlo.return %0 : tensor<8x3xf32>\n    }) : "
      "(tensor<i1>) -> tensor<8x3xf32>\n    return %1 : tensor<8x3xf32>\n";
  const std::string out = rewritten_text(module(kArguments, "tensor<8x3xf32>", body));
  EXPECT_THAT(out, HasSubstr("    %0 = stablehlo.custom_call @strew(%x, %i, %u)"));
  EXPECT_THAT(out, HasSubstr("%2 = stablehlo.custom_call @strew(%0, %i, %u)"));
  EXPECT_THAT(out, HasSubstr("      stablehlo.return %0 : tensor<8x3xf32>\n"));
  EXPECT_THAT(out, Not(HasSubstr("stablehlo.scatter")));
}

}  // namespace
}  // namespace strew
