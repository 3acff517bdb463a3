// Where statements, names and aliases stand in a text.
#include <gmock/gmock.h>

#include "base/module.h"
#include "compiler/import/mlir_module.h"

namespace strew {
namespace {

using testing::ElementsAre;

TextIndex index_of(const std::string& text) {
  const auto module = open_module<MlirModule>("libstrew_import_mlir.so", "strew_import_mlir_module", "a test");
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return {};
  Expected<MlirText> read = (*module)->read_text(text, "FILE", {});
  EXPECT_TRUE(read.ok()) << read.status().message();
  return read.ok() ? std::move(read->index) : TextIndex();
}

std::vector<std::string> statements(const std::string& text, const TextIndex& index) {
  std::vector<std::string> out;
  for (const TextBlock& block : index.blocks)
    for (const int s : block.statements)
      out.push_back(text.substr(index.statements[s].begin, index.statements[s].end - index.statements[s].begin));
  return out;
}

TEST(TextIndex, StatementsEndWithTheirLastToken) {
  const std::string text = R"(module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4xf32>  // a comment " with a quote

    "stablehlo.custom_call"(%0) {call_target_name = "//"} : (tensor<4xf32>) -> () loc("here")
    return %0 : tensor<4xf32>
  }
}
)";
  const TextIndex index = index_of(text);
  EXPECT_EQ(index.unreadable, "");
  EXPECT_THAT(statements(text, index),
              ElementsAre("%0 = stablehlo.add %x, %x : tensor<4xf32>",
                          R"("stablehlo.custom_call"(%0) {call_target_name = "//"} : (tensor<4xf32>) -> () loc("here"))",
                          "return %0 : tensor<4xf32>"));
  EXPECT_EQ(index.statements[0].line, 3);
  ASSERT_EQ(index.functions.size(), 1U);
  EXPECT_EQ(index.functions[0].name, "f");
  EXPECT_EQ(text.substr(index.functions[0].end), "\n}\n");
}

TEST(TextIndex, EachNameIsAValues) {
  const std::string text = R"(module {
  func.func @f(%x: tensor<i32>) -> tensor<i32> {
    %0:2 = stablehlo.while(%a = %x, %b = %x) : tensor<i32>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %a, %x : tensor<i32>
      stablehlo.return %1, %b : tensor<i32>, tensor<i32>
    }
    return %0#1 : tensor<i32>
  }
}
)";
  const TextIndex index = index_of(text);
  EXPECT_EQ(index.unreadable, "");
  std::string names;
  for (const TextToken& token : index.tokens)
    names += (token.defines ? "=" : " ") + text.substr(token.begin, token.end - token.begin);
  EXPECT_EQ(names, "=%x=%0=%a %x=%b %x=%1 %a %b %1=%1 %a %x %1 %b %0#1");
  const TextStatement& loop = index.statements[0];
  EXPECT_EQ(loop.operation, "stablehlo.while");
  ASSERT_EQ(loop.blocks.size(), 2U);
  const std::vector<int>&cond = index.blocks[loop.blocks[0]].arguments, &body = index.blocks[loop.blocks[1]].arguments;
  EXPECT_NE(cond[0], body[0]);
  EXPECT_EQ(index.values[cond[0]].definition, index.values[body[0]].definition) << "one name for both";
  ASSERT_EQ(loop.captures.size(), 1U);
  EXPECT_EQ(index.values[loop.captures[0]].statement, -1) << "%x, an argument of the function";
  EXPECT_EQ(index.values[loop.results[1]].within, 1);
}

TEST(TextIndex, ANameWhoseMeaningIsNotKnownMakesTheTextUnreadable) {
  const std::string text = R"(module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = some.operation %x where [%x] : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
)";
  EXPECT_EQ(index_of(text).unreadable, "line 3: what %x stands for is not known");
}

TEST(TextIndex, RanksAreThoseOfTensorsThatACallCanPass) {
  const std::string types[] = {"tensor<f32>",   "tensor<2x3xi1>", "tensor<2xcomplex<f32>>",
                               "tensor<?xf32>", "tensor<2xi4>",   "!stablehlo.token"};
  std::vector<int> ranks;
  for (const std::string& type : types) {
    const TextIndex index = index_of("func.func @f(%x: " + type + ") -> " + type + " {\n  return %x : " + type + "\n}\n");
    ASSERT_FALSE(index.values.empty());
    EXPECT_EQ(index.values[0].type, type);
    ranks.push_back(index.values[0].rank);
  }
  EXPECT_THAT(ranks, ElementsAre(0, 2, 1, -1, -1, -1));
}

TEST(TextIndex, AliasesAndPartitions) {
  const std::string text =
      "#a = 1 : i32\n!t = tensor<4xf32>\nmodule attributes {mhlo.num_partitions = 4 : i32} {\n  func.func private @f(!t) -> "
      "!t\n}\n#b = loc(\"x\")\n";
  const TextIndex index = index_of(text);
  EXPECT_EQ(index.partitions, 4);
  std::vector<std::string> aliases;
  for (const TextAlias& alias : index.aliases) aliases.push_back(text.substr(alias.begin, alias.end - alias.begin));
  EXPECT_THAT(aliases, testing::UnorderedElementsAre("#a = 1 : i32", "!t = tensor<4xf32>", "#b = loc(\"x\")"));
  ASSERT_EQ(index.functions.size(), 1U);
  EXPECT_TRUE(index.functions[0].is_private);
  EXPECT_TRUE(index.functions[0].blocks.empty());
}

/// A module of four partitions with a mesh of the axes x and y, whose function has this body, of %x: tensor<4xf32>. Returns what each block says, in the order in which blocks
/// begin: 0, or a for all axes of the mesh, or p for some.
std::string partitioned(const std::string& body, int partitions = 4) {
  const std::string text =
      "module attributes {mhlo.num_partitions = " + std::to_string(partitions) +
      " : i32} {\n  sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n  sdy.mesh @line = <[\"x\"=4], device_ids=[3, 2, 1, 0]>\n"
      "  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n" +
      body + "    return %x : tensor<4xf32>\n  }\n}\n";
  const TextIndex index = index_of(text);
  EXPECT_EQ(index.unreadable, "");
  std::string out;
  for (const TextBlock& block : index.blocks) {
    switch (block.partitioned) {
      case Partitioned::no:
        out += '0';
        break;
      case Partitioned::part:
        out += 'p';
        break;
      case Partitioned::all:
        out += 'a';
        break;
    }
  }
  return out;
}

/// JAX's shard_map of %x over these axes: "\"x\"". `inside`: more statements.
std::string shard_map(const std::string& mesh, const std::string& axes, const std::string& inside = "",
                      const std::string& name = "a") {
  const std::string shardings = "shardings=[<" + mesh + ", [{" + axes + ", ?}], replicated={}>]";
  return "    %" + name + " = sdy.manual_computation(%x) in_" + shardings + " out_" + shardings + " manual_axes={" + axes +
         "} (%" + name + "x: tensor<4xf32>) {\n" + inside + "      sdy.return %" + name +
         "x : tensor<4xf32>\n    } : (tensor<4xf32>) -> tensor<4xf32>\n";
}

TEST(TextIndex, ARegionInWhichAllAxesAreManualIsNotPartitioned) {
  EXPECT_EQ(partitioned(shard_map("@mesh", R"("x", "y")")), "a0");
  EXPECT_EQ(partitioned(shard_map("@mesh", R"("x")")), "ap");
  EXPECT_EQ(partitioned(shard_map("@line", R"("x")")), "a0");
  EXPECT_EQ(partitioned(shard_map("mesh<[\"x\"=4]>", R"("x")")), "a0") << "the mesh stands in the sharding";
  EXPECT_EQ(partitioned(shard_map("mesh<[\"x\"=2, \"y\"=2]>", R"("x")")), "ap");
  EXPECT_EQ(partitioned(shard_map("@other", R"("x")")), "ap") << "there is no such mesh";
  EXPECT_EQ(partitioned(shard_map("@mesh", R"("x")"), 1), "00");
  EXPECT_EQ(partitioned(shard_map("@line", R"("x")") + shard_map("@mesh", R"("y")", "", "b")), "a0p");
}

TEST(TextIndex, AxesOfRegionsInEachOtherCountTogether) {
  const std::string inner = shard_map("@mesh", R"("y")", "", "b");
  EXPECT_EQ(partitioned(shard_map("@mesh", R"("x")", inner)), "ap0");
  const auto reduced = [](const std::string& name) {
    return "    %z" + name + " = stablehlo.constant dense<0.0> : tensor<f32>\n      %" + name + " = \"stablehlo.reduce\"(%x, %z" +
           name + ") <{dimensions = array<i64: 0>}> ({\n      ^bb0(%l" + name + ": tensor<f32>, %r" + name +
           ": tensor<f32>):\n        stablehlo.return %l" + name +
           " : tensor<f32>\n      }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n";
  };
  EXPECT_EQ(partitioned(reduced("s") + shard_map("@line", R"("x")", reduced("t"), "b")), "aa00");
}

TEST(TextIndex, AxesInTheGenericForm) {
  const std::string generic =
      "    %a = \"sdy.manual_computation\"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{\"x\", \"y\"}]>]>, "
      "manual_axes = #sdy<manual_axes{\"x\", \"y\"}>, out_shardings = "
      "#sdy.sharding_per_value<[<@mesh, [{\"x\", \"y\"}]>]>}> ({\n    ^bb0(%b: tensor<1xf32>):\n      \"sdy.return\"(%b) : "
      "(tensor<1xf32>) -> ()\n    }) : (tensor<4xf32>) -> tensor<4xf32>\n";
  EXPECT_EQ(partitioned(generic), "a0");
}

}  // namespace
}  // namespace strew
