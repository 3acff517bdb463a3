// Calls of functions are inlined in the text.
#include "compiler/splice/inline_calls.h"

#include <gmock/gmock.h>

#include "base/module.h"
#include "compiler/import/mlir_module.h"

namespace strew {
namespace {

using testing::HasSubstr;

Expected<MlirText> read(const std::string& text) {
  STREW_ASSIGN(const MlirModule* module,
               open_module<MlirModule>("libstrew_import_mlir.so", "strew_import_mlir_module", "a test"));
  return module->read_text(text, "FILE", {});
}

InlinedText inlined(const std::string& text) {
  const Expected<MlirText> found = read(text);
  EXPECT_TRUE(found.ok()) << found.status().message();
  if (!found.ok()) return {};
  EXPECT_EQ(found->index.unreadable, "");
  EXPECT_TRUE(has_calls(found->index));
  Expected<InlinedText> out = inline_calls(text, found->index);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  EXPECT_TRUE(read(out->text).ok()) << read(out->text).status().message() << "\n" << out->text;
  return *out;
}

TEST(InlineCalls, OperandsTakeThePlaceOfArgumentsAndNamesGetAPrefix) {
  const InlinedText out = inlined(R"(module @m {
  func.func public @main(%arg0: tensor<i32>) -> tensor<i32> {
    %0 = call @twice(%arg0) : (tensor<i32>) -> tensor<i32>
    %1 = func.call @twice(%0) : (tensor<i32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @twice(%arg0: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<i32>
    return %0 : tensor<i32>
  }
}
)");
  EXPECT_EQ(out.text, R"(module @m {
  func.func public @main(%arg0: tensor<i32>) -> tensor<i32> {
    %f0_0 = stablehlo.add %arg0, %arg0 : tensor<i32>
    %f1_0 = stablehlo.add %f0_0, %f0_0 : tensor<i32>
    return %f1_0 : tensor<i32>
  }
}
)");
  EXPECT_EQ(out.lines, (std::vector<int>{0, 1, 2, 8, 8, 5, 6, 11}));
}

TEST(InlineCalls, CallsInRegionsAndInFunctionsAndSeveralResults) {
  const InlinedText out = inlined(R"(module {
  func.func public @main(%arg0: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg0) : tensor<i32>, tensor<i32>
    cond {
      %1 = func.call @less(%iterArg, %iterArg_0) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = func.call @step(%iterArg_0) : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
      stablehlo.return %1#1, %1#0 : tensor<i32>, tensor<i32>
    }
    return %0#0, %0#1 : tensor<i32>, tensor<i32>
  }
  func.func private @less(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func private @step(%arg0: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = call @same(%arg0) : (tensor<i32>) -> tensor<i32>
    %1 = stablehlo.add %0, %arg0 : tensor<i32>
    return %arg0, %1 : tensor<i32>, tensor<i32>
  }
  func.func private @same(%arg0: tensor<i32>) -> tensor<i32> {
    return %arg0 : tensor<i32>
  }
}
)");
  EXPECT_THAT(out.text, HasSubstr("stablehlo.compare LT, %iterArg, %iterArg_0, SIGNED"));
  EXPECT_THAT(out.text, HasSubstr("%f1_1 = stablehlo.add %iterArg_0, %iterArg_0 : tensor<i32>"));
  EXPECT_THAT(out.text, HasSubstr("stablehlo.return %f1_1, %iterArg_0 : tensor<i32>, tensor<i32>"));
  EXPECT_THAT(out.text, Not(HasSubstr("private")));
}

TEST(InlineCalls, NamesOfTheTextAreNotTaken) {
  const InlinedText out = inlined(R"(module {
  func.func public @main(%f0_0: tensor<i32>, %ff: tensor<i32>) -> tensor<i32> {
    %0 = call @twice(%f0_0) : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @twice(%arg0: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<i32>
    return %0 : tensor<i32>
  }
}
)");
  EXPECT_THAT(out.text, HasSubstr("%fff0_0 = stablehlo.add %f0_0, %f0_0"));
}

TEST(InlineCalls, AFunctionThatCallsItselfStays) {
  const std::string text = R"(module {
  func.func public @main(%arg0: tensor<i32>) -> tensor<i32> {
    %0 = call @outer(%arg0) : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @outer(%arg0: tensor<i32>) -> tensor<i32> {
    %0 = call @loop(%arg0) : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @loop(%arg0: tensor<i32>) -> tensor<i32> {
    %0 = call @loop(%arg0) : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
}
)";
  const InlinedText out = inlined(text);
  EXPECT_THAT(out.text, HasSubstr("%f0_0 = call @loop(%arg0)"));
  EXPECT_THAT(out.text, HasSubstr("@loop(%arg0: tensor<i32>)"));
  EXPECT_THAT(out.text, Not(HasSubstr("@outer")));
}

TEST(InlineCalls, WhateverNamesAFunctionKeepsIt) {
  const InlinedText out = inlined(R"m("builtin.module"() ({
  "func.func"() <{function_type = (tensor<i32>) -> tensor<i32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<i32>):
    %0 = "func.call"(%arg0) <{callee = @"an other"}> : (tensor<i32>) -> tensor<i32>
    "func.return"(%0) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>) -> tensor<i32>, sym_name = "an other", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>):
    %0 = "stablehlo.composite"(%arg0) <{decomposition = @"the part", name = "a.b"}> : (tensor<i32>) -> tensor<i32>
    "func.return"(%0) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>) -> tensor<i32>, sym_name = "the part", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>):
    "func.return"(%arg0) : (tensor<i32>) -> ()
  }) : () -> ()
}) : () -> ()
)m");
  EXPECT_THAT(out.text, HasSubstr("%f0_0 = \"stablehlo.composite\"(%arg0) <{decomposition = @\"the part\""));
  EXPECT_THAT(out.text, HasSubstr("sym_name = \"the part\""));
  EXPECT_THAT(out.text, Not(HasSubstr("an other")));
}

TEST(InlineCalls, AFunctionThatReturnsSomethingElseStays) {
  const std::string text = R"(module {
  func.func public @main(%arg0: tensor<i32>) -> tensor<i32> {
    %0 = call @f(%arg0) : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @f(%arg0: tensor<i32>) -> tensor<i32> {
    "stablehlo.return"() : () -> ()
  }
}
)";
  const Expected<MlirText> found = read(text);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_FALSE(has_calls(found->index));
}

/// Functions that each call the next one twice.
std::string doubling(int count, const std::string& filler) {
  std::string out = "module {\n  func.func public @main(%a: tensor<i32>) -> tensor<i32> {\n";
  out += "    %0 = call @f0(%a) : (tensor<i32>) -> tensor<i32>\n    return %0 : tensor<i32>\n  }\n";
  for (int i = 0; i < count; ++i) {
    const std::string next = i + 1 < count ? "call @f" + std::to_string(i + 1) + "(%a) : (tensor<i32>) -> tensor<i32>"
                                           : "stablehlo.add %a, %a {x = \"" + filler + "\"} : tensor<i32>";
    out += "  func.func private @f" + std::to_string(i) + "(%a: tensor<i32>) -> tensor<i32> {\n    %0 = " + next +
           "\n    %1 = " + next + "\n    return %1 : tensor<i32>\n  }\n";
  }
  return out + "}\n";
}

TEST(InlineCalls, TheTextMayNotGrowWithoutEnd) {
  const std::string text = doubling(20, std::string(1000, 'x'));
  const Expected<MlirText> found = read(text);
  ASSERT_TRUE(found.ok()) << found.status().message();
  const Expected<InlinedText> out = inline_calls(text, found->index);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.status().message(), "the text would grow by more than 16777216 bytes if its calls were inlined");
}

TEST(InlineCalls, ADeepChainOfCallsStopsAtItsLimit) {
  std::string text = "module {\n  func.func public @main(%a: tensor<i32>) -> tensor<i32> {\n    return %a : tensor<i32>\n  }\n";
  for (int i = 0; i < 3000; ++i)
    text += "  func.func private @f" + std::to_string(i) + "(%a: tensor<i32>) -> tensor<i32> {\n    %0 = call @f" +
            std::to_string(std::min(i + 1, 2999)) + "(%a) : (tensor<i32>) -> tensor<i32>\n    return %0 : tensor<i32>\n  }\n";
  const Expected<MlirText> found = read(text + "}\n");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_TRUE(inline_calls(text + "}\n", found->index).ok());
}

}  // namespace
}  // namespace strew
