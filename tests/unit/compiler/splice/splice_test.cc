// Calls of strew in modules: what stands where, in which order, and what is left alone.
#include "strew/splice.h"

#include <gmock/gmock.h>

#include "compiler/import/import_bytes.h"
#include "tests/support/spliced.h"
#include "tests/unit/compiler/splice/splice_testing.h"

namespace strew {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Spliced spliced(const std::string& text, const SpliceOptions& options = {.any_size = true}) {
  Expected<Spliced> out = splice(text, "FILE", options);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  if (!out->calls.empty()) {
    const std::string whole = test::with_functions(out->text);
    const Expected<Program> read = import_bytes(whole, "SPLICED.mlir", {});
    EXPECT_TRUE(read.ok()) << read.status().message() << "\n" << out->text;
    const Expected<Spliced> again = splice(out->text, "AGAIN", options);
    EXPECT_TRUE(again.ok()) << again.status().message() << "\n" << out->text;
    EXPECT_THAT(again.value_or({}).calls, testing::IsEmpty());
  }
  return std::move(*out);
}

/// The names of the region as a part's program has them.
std::string renumbered(std::string text) {
  for (const auto& [from, to] : {std::pair("%r0", "%1"), std::pair("%r1", "%2"), std::pair("%r2", "%3")})
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) text.replace(at, 3, to);
  return text;
}

TEST(Splice, AStatementBecomesACall) {
  const Spliced out =
      spliced(module(kArguments, "tensor<8x3xf32>", scatter("%0", "%x", "%i", "%u") + "    return %0 : tensor<8x3xf32>\n"));
  EXPECT_EQ(short_text(out.text), module(kArguments, "tensor<8x3xf32>",
                                         std::string("    %0 = stablehlo.custom_call @strew(%x, %i, %u)") + kTypes +
                                             "\n    return %0 : tensor<8x3xf32>\n"));
  EXPECT_THAT(out.text, HasSubstr("api_version = 4 : i32, backend_config = {identity = "));
  EXPECT_THAT(out.text, HasSubstr(", name = \"main\", program = \"module attributes {mhlo.num_partitions = 1 : i32, "));
  EXPECT_THAT(
      out.text,
      HasSubstr("has_side_effect = false, operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, "
                "dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<"
                "output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], "
                "result_layouts = [dense<[1, 0]> : tensor<2xindex>]}"));
  EXPECT_EQ(program_of(out.text),
            "module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n"
            "  func.func public @main(%arg0: tensor<8x3xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x3xf32>) -> "
            "(tensor<8x3xf32>) {\n" +
                renumbered(scatter("%0", "%arg0", "%arg1", "%arg2")) + "    return %0 : tensor<8x3xf32>\n  }\n}\n");
  ASSERT_EQ(out.calls.size(), 1U);
  EXPECT_EQ(out.calls[0].name, "main");
  EXPECT_EQ(out.calls[0].location, "FILE:3: stablehlo.scatter");
  EXPECT_THAT(out.calls[0].operations, ElementsAre("stablehlo.scatter"));
  EXPECT_THAT(out.kept, testing::IsEmpty());
}

TEST(Splice, EqualPartsHaveEqualPrograms) {
  const Spliced out =
      spliced(module(std::string(kArguments) + ", %y: tensor<8x3xf32>", "tensor<8x3xf32>, tensor<8x3xf32>",
                     scatter("%0", "%x", "%i", "%u") + "    %c = stablehlo.constant dense<1> : tensor<i32>\n" +
                         scatter("%1", "%y", "%i", "%u", "other") + "    return %0, %1 : tensor<8x3xf32>, tensor<8x3xf32>\n"));
  ASSERT_EQ(out.calls.size(), 2U);
  const size_t second = out.text.rfind("custom_call");
  EXPECT_EQ(program_of(out.text), program_of(out.text, second));
  EXPECT_EQ(out.text.substr(out.text.find("identity = "), 30), out.text.substr(out.text.find("identity = ", second), 30));
}

TEST(Splice, TheBodyOfALoopHasACall) {
  const std::string loop = R"(    %n = stablehlo.constant dense<4> : tensor<i32>
    %0:2 = stablehlo.while(%a = %n, %b = %x) : tensor<i32>, tensor<8x3xf32>
    cond {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.compare LT, %z, %a, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.subtract %a, %one : tensor<i32>
)" + scatter("%2", "%b", "%i", "%u") +
                           R"(      stablehlo.return %1, %2 : tensor<i32>, tensor<8x3xf32>
    }
    return %0#1 : tensor<8x3xf32>
)";
  const Spliced out = spliced(module(kArguments, "tensor<8x3xf32>", loop));
  ASSERT_EQ(out.calls.size(), 1U);
  EXPECT_THAT(short_text(out.text), HasSubstr("%1 = stablehlo.subtract %a, %one : tensor<i32>\n"
                                              "      %2 = stablehlo.custom_call @strew(%b, %i, %u) : (tensor<8x3xf32>"));
  EXPECT_EQ(out.calls[0].name, "main/while/body/scatter");
}

TEST(Splice, ResultsOfOneStatement) {
  std::string two =
      R"(    %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
      %s = stablehlo.add %a, %c : tensor<f32>
      %t = stablehlo.maximum %b, %d : tensor<f32>
      stablehlo.return %s, %t : tensor<f32>, tensor<f32>
    }) : (tensor<8x3xf32>, tensor<8x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<8x3xf32>, tensor<8x3xf32>)
    return %0#1, %0#0 : tensor<8x3xf32>, tensor<8x3xf32>
)";
  const Spliced out = spliced(
      module(std::string(kArguments) + ", %y: tensor<8x3xf32>, %v: tensor<4x3xf32>", "tensor<8x3xf32>, tensor<8x3xf32>", two));
  EXPECT_THAT(short_text(out.text), AllOf(HasSubstr("    %strew0, %strew1 = stablehlo.custom_call @strew("),
                                          HasSubstr("    return %strew1, %strew0 : ")));
  EXPECT_THAT(program_of(out.text), HasSubstr("return %0#0, %0#1 : "));
}

TEST(Splice, NamesThatRegionsUseAgain) {
  // %r0 is an operand of the second scatter, and a name in the region of the first.
  const std::string body = scatter("%0", "%x", "%i", "%u") +
                           "    %r0 = stablehlo.custom_call @other(%0) : (tensor<8x3xf32>) -> tensor<4x3xf32>\n" +
                           scatter("%1", "%0", "%i", "%r0", "q") + "    return %1 : tensor<8x3xf32>\n";
  const Spliced out = spliced(module(kArguments, "tensor<8x3xf32>", body));
  EXPECT_EQ(out.calls.size(), 2U);
  EXPECT_THAT(short_text(out.text), HasSubstr("%1 = stablehlo.custom_call @strew(%0, %i, %r0)"));
}

TEST(Splice, LocationsAndAliasesStay) {
  std::string statement = scatter("%0", "%x", "%i", "%u");
  statement.replace(statement.rfind('\n'), 1, " loc(#loc1)\n");
  const std::string text = "#dims = [0]\n#loc = loc(\"f.py\":1:1)\n" +
                           module("%x: tensor<8x3xf32> loc(\"x\"), %i: tensor<4x1xi32>, %u: tensor<4x3xf32>", "tensor<8x3xf32>",
                                  statement + "    return %0 : tensor<8x3xf32> loc(#loc)\n") +
                           "#loc1 = loc(callsite(\"g\"(\"f.py\":3:4) at #loc))\n";
  const Spliced out = spliced(text);
  ASSERT_EQ(out.calls.size(), 1U);
  EXPECT_EQ(out.calls[0].location, "FILE:5: stablehlo.scatter");
  EXPECT_THAT(program_of(out.text), Not(HasSubstr("loc")));
  EXPECT_THAT(out.text, HasSubstr("return %0 : tensor<8x3xf32> loc(#loc)\n"));
  EXPECT_THAT(out.text, HasSubstr("\n#loc1 = loc(callsite("));

  std::string aliased = scatter("%0", "%x", "%i", "%u");
  const size_t begin = aliased.find("#stablehlo.scatter<"), end = aliased.find(">}>");
  const std::string numbers = aliased.substr(begin, end + 1 - begin);
  aliased.replace(begin, end + 1 - begin, "#numbers");
  const Spliced other = spliced("#numbers = " + numbers + "\n" +
                                module(kArguments, "tensor<8x3xf32>", aliased + "    return %0 : tensor<8x3xf32>\n"));
  EXPECT_THAT(program_of(other.text), StartsWith("#numbers = #stablehlo.scatter<"));
}

TEST(Splice, ALargeConstantIsAnOperand) {
  std::string numbers;
  for (int i = 0; i < 1500; ++i) numbers += (i == 0 ? "[" : ", [") + std::to_string(i % 8) + "]";
  const std::string body =
      "    %c = stablehlo.constant dense<[" + numbers + "]> : tensor<1500x1xi32>\n" +
      "    %0 = \"stablehlo.gather\"(%x, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
      "[0], "
      "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<8x3xf32>, tensor<1500x1xi32>) -> "
      "tensor<1500x3xf32>\n    return %0 : tensor<1500x3xf32>\n";
  const Spliced out = spliced(module(kArguments, "tensor<1500x3xf32>", body));
  ASSERT_EQ(out.calls.size(), 1U);
  EXPECT_THAT(short_text(out.text), HasSubstr("%0 = stablehlo.custom_call @strew(%x, %c)"));
  EXPECT_LT(program_of(out.text).size(), 1000U);
}

TEST(Splice, LinesAreThoseOfTheTextBeforeCallsWereInlined) {
  const std::string text = module(kArguments, "tensor<8x3xf32>",
                                  "    %0 = call @add(%x, %i, %u)" + std::string(kTypes) + "\n    return %0 : tensor<8x3xf32>\n");
  const std::string function = "  func.func private @add(" + std::string(kArguments) + ") -> tensor<8x3xf32> {\n" +
                               scatter("%0", "%x", "%i", "%u") + "    return %0 : tensor<8x3xf32>\n  }\n}\n";
  const Spliced out = spliced(text.substr(0, text.size() - 2) + function);
  ASSERT_EQ(out.calls.size(), 1U);
  EXPECT_EQ(out.calls[0].location, "FILE:7: stablehlo.scatter");
  EXPECT_THAT(out.text, Not(HasSubstr("@add")));
}

TEST(Splice, WhatStandsInAFunctionThatCallsItselfStaysXlas) {
  const std::string text = module(kArguments, "tensor<8x3xf32>",
                                  "    %0 = call @add(%x, %i, %u)" + std::string(kTypes) + "\n    return %0 : tensor<8x3xf32>\n");
  const std::string function = "  func.func private @add(" + std::string(kArguments) + ") -> tensor<8x3xf32> {\n" +
                               scatter("%0", "%x", "%i", "%u") + "    %1 = call @add(%0, %i, %u)" + std::string(kTypes) +
                               "\n    return %1 : tensor<8x3xf32>\n  }\n}\n";
  const Spliced out = spliced(text.substr(0, text.size() - 2) + function);
  EXPECT_EQ(out.text, text.substr(0, text.size() - 2) + function);
  ASSERT_EQ(out.kept.size(), 1U);
  EXPECT_EQ(out.kept[0].operation, "stablehlo.scatter");
  EXPECT_EQ(out.kept[0].location, "FILE:7: stablehlo.scatter");
  EXPECT_EQ(
      out.kept[0].reason,
      "it stands in the function @add, whose calls cannot be inlined: the function calls itself, or is no straight-line code");
}

TEST(Splice, AConstantWhoseElementsStandElsewhereIsAnOperand) {
  const std::string body =
      "    %c = stablehlo.constant dense_resource<rows> : tensor<2x1xi32>\n"
      "    %0 = \"stablehlo.gather\"(%x, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
      "[0], "
      "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<8x3xf32>, tensor<2x1xi32>) -> "
      "tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>\n";
  const Spliced out =
      spliced(module(kArguments, "tensor<2x3xf32>", body) +
              "{-#\n  dialect_resources: {\n    builtin: {\n      rows: \"0x040000000100000005000000\"\n    }\n  }\n#-}\n");
  ASSERT_EQ(out.calls.size(), 1U);
  EXPECT_THAT(short_text(out.text), HasSubstr("%0 = stablehlo.custom_call @strew(%x, %c)"));
  EXPECT_THAT(out.text, HasSubstr("}\n{-#\n  dialect_resources"));
}

TEST(Splice, SeveralPartitionsAreLeftAlone) {
  std::string text = module(kArguments, "tensor<8x3xf32>", scatter("%0", "%x", "%i", "%u") + "    return %0 : tensor<8x3xf32>\n");
  text.replace(text.find("partitions = 1"), 14, "partitions = 2");
  const Spliced out = spliced(text);
  EXPECT_EQ(out.text, text);
  ASSERT_EQ(out.kept.size(), 1U);
  EXPECT_EQ(out.kept[0].operation, "module");
  EXPECT_EQ(out.kept[0].reason, "it is divided into 2 partitions, and a call would gather its operands from all of them");
}

/// A module of four partitions, and a mesh of the axes x and y.
std::string partitioned_module(const std::string& body, const std::string& functions = "") {
  std::string text = module(kArguments, "tensor<8x3xf32>", body);
  text.replace(text.find("partitions = 1"), 14, "partitions = 4");
  text.insert(text.find("  func.func"), "  sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n");
  return text.insert(text.size() - 2, functions);
}

/// JAX's shard_map over these axes: of %x, %i and %u, which are called %x0, %i0 and %u0 in it. `body` makes %n of them.
std::string shard_map(const std::string& axes, const std::string& body) {
  const std::string rows = "<@mesh, [{" + axes + "}, {}]>";
  return "    %m = sdy.manual_computation(%x, %i, %u) in_shardings=[" + rows + ", " + rows + ", " + rows + "] out_shardings=[" +
         rows + "] manual_axes={" + axes + "} (%x0: tensor<8x3xf32>, %i0: tensor<4x1xi32>, %u0: tensor<4x3xf32>) {\n" + body +
         "      sdy.return %n : tensor<8x3xf32>\n    }" + kTypes + "\n";
}

constexpr char kReturnM[] = "    return %m : tensor<8x3xf32>\n";

TEST(Splice, OfSeveralPartitionsManualRegionsHaveCalls) {
  const std::string before = scatter("%o", "%x", "%i", "%u", "o");
  const Spliced out =
      spliced(partitioned_module(before + shard_map(R"("x", "y")", scatter("%n", "%x0", "%i0", "%u0")) + kReturnM));
  ASSERT_EQ(out.calls.size(), 1U);
  EXPECT_EQ(out.calls[0].location, "FILE:10: stablehlo.scatter");
  EXPECT_THAT(short_text(out.text), HasSubstr("(%x0: tensor<8x3xf32>, %i0: tensor<4x1xi32>, %u0: tensor<4x3xf32>) {\n    %n = "
                                              "stablehlo.custom_call @strew(%x0, %i0, %u0)"));
  EXPECT_THAT(out.text, AllOf(HasSubstr("module @m attributes {mhlo.num_partitions = 4 : i32}"), HasSubstr(before)));
  EXPECT_THAT(program_of(out.text), HasSubstr("{mhlo.num_partitions = 1 : i32, "));
  ASSERT_EQ(out.kept.size(), 1U);
  EXPECT_EQ(out.kept[0].location, "FILE:4: stablehlo.scatter");
  EXPECT_EQ(out.kept[0].reason, "it is divided into 4 partitions, and a call would gather its operands from all of them");
}

TEST(Splice, RegionsInWhichSomeAxesAreManualAreLeftAlone) {
  const std::string text = partitioned_module(shard_map(R"("x")", scatter("%n", "%x0", "%i0", "%u0")) + kReturnM);
  const Spliced out = spliced(text);
  EXPECT_EQ(out.text, text);
  ASSERT_EQ(out.kept.size(), 1U);
  EXPECT_EQ(out.kept[0].operation, "stablehlo.scatter");
  EXPECT_EQ(out.kept[0].reason,
            "it is divided along the axes of the mesh that the shard_map around it does not name, and a call would gather its "
            "operands");
}

TEST(Splice, LoopsAndFunctionsInManualRegions) {
  const std::string call = "      %n = func.call @rows(%x0, %i0, %u0)" + std::string(kTypes) + "\n";
  const std::string rows =
      R"(  func.func private @rows(%x: tensor<8x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) -> tensor<8x3xf32> {
    %c = stablehlo.constant dense<4> : tensor<i32>
    %0:2 = stablehlo.while(%a = %c, %b = %x) : tensor<i32>, tensor<8x3xf32>
    cond {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.compare LT, %z, %a, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.subtract %a, %one : tensor<i32>
)" + scatter("%2", "%b", "%i", "%u") +
      R"(      stablehlo.return %1, %2 : tensor<i32>, tensor<8x3xf32>
    }
    return %0#1 : tensor<8x3xf32>
  }
)";
  const Spliced out = spliced(partitioned_module(shard_map(R"("x", "y")", call) + kReturnM, rows));
  ASSERT_EQ(out.calls.size(), 1U);
  EXPECT_EQ(out.calls[0].name, "main/manual_computation/body/while/body/scatter");
  EXPECT_THAT(short_text(out.text), HasSubstr(" = stablehlo.custom_call @strew("));
  EXPECT_THAT(out.text, Not(HasSubstr("@rows")));
  EXPECT_THAT(spliced(partitioned_module(shard_map(R"("y")", call) + kReturnM, rows)).calls, testing::IsEmpty());
}

TEST(Splice, ATextWithNothingToReplaceIsTheSame) {
  const std::string text =
      "// nothing\n" + module("%x: tensor<4xf32>", "tensor<4xf32>",
                              "    %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>\n    return %0 : tensor<4xf32>\n  }\n"
                              "  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n    return %x : tensor<4xf32>\n");
  const Spliced out = spliced(text);
  EXPECT_EQ(out.text, text);
  EXPECT_THAT(out.kept, testing::IsEmpty());
}

TEST(Splice, ExtentsThatAreOpenStayXlas) {
  std::string statement = scatter("%0", "%x", "%i", "%u");
  std::string text = module(kArguments, "tensor<8x3xf32>", statement + "    return %0 : tensor<8x3xf32>\n");
  for (size_t at = 0; (at = text.find("tensor<4x", at)) != std::string::npos; ++at) text.replace(at, 9, "tensor<?x");
  const Spliced out = spliced(text);
  EXPECT_EQ(out.text, text);
  ASSERT_EQ(out.kept.size(), 1U);
  EXPECT_EQ(out.kept[0].operation, "stablehlo.scatter");
  EXPECT_THAT(out.kept[0].reason,
              HasSubstr("a call can't pass a value of type tensor<?x1xi32>; expected a tensor whose extents are known"));
}

std::string message(std::string_view text) {
  const Expected<Spliced> out = splice(text, "FILE");
  return out.ok() ? "spliced" : out.status().message();
}

TEST(Splice, BadTextsAreRefused) {
  EXPECT_THAT(message("neither MLIR nor anything else"), StartsWith("FILE:1: "));
  EXPECT_THAT(message("ML\xefR\x01StableHLO_v1.0.0"), StartsWith("FILE: a StableHLO portable artifact"));
  EXPECT_THAT(message("module {\n  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n    return %y : tensor<4xf32>\n  }\n}\n"),
              StartsWith("FILE:3: "));
  EXPECT_EQ(message(""), "spliced");
}

}  // namespace
}  // namespace strew
