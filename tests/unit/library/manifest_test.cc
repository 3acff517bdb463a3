// JSON with lines, and manifests of kernel libraries: what they say, and the line and member that a mistake names. tests/library has more
// mistakes, as the command line shows them.
#include "library/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "library/json_lines.h"
#include "strew/schedule.h"
#include "strew/text.h"
#include "tests/support/rule_label.h"

namespace strew {
namespace {

using testing::HasSubstr;

TEST(JsonLines, ValuesKnowTheirLines) {
  const auto root =
      parse_json("// a comment\n{\"a\": [1, true,\n  \"x\\ny\"], /* more\n */ \"b\": {}, \"c\": null, \"d\": -2.5}\n");
  ASSERT_TRUE(root.ok()) << root.status().message();
  EXPECT_EQ(root->kind, JsonValue::Kind::object);
  EXPECT_EQ(root->line, 2);
  const JsonValue* const a = root->find("a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->items.size(), 3u);
  EXPECT_EQ(a->items[0].number, 1);
  EXPECT_TRUE(a->items[1].boolean);
  EXPECT_EQ(a->items[2].text, "x\ny");
  EXPECT_EQ(a->items[2].line, 3);
  EXPECT_EQ(root->find("b")->line, 4);
  EXPECT_EQ(root->find("c")->kind, JsonValue::Kind::null);
  EXPECT_EQ(root->find("d")->number, -2.5);
  EXPECT_EQ(root->find("e"), nullptr);
}

TEST(JsonLines, MistakesNameTheLine) {
  const auto message = [](const std::string& text) { return parse_json(text).status().message(); };
  EXPECT_THAT(message(""), HasSubstr("1: "));
  EXPECT_THAT(message("{\n\"a\": 1,\n}"), HasSubstr("3: "));
  EXPECT_THAT(message("{\"a\": 1}\n\n!"), HasSubstr("3: "));
  EXPECT_EQ(message("{\"a\": 1,\n \"a\": 2}"), "2: 'a' is given twice");
  EXPECT_THAT(message(std::string(100, '[')), HasSubstr("nested deeper than"));
  EXPECT_THAT(message("{\"a\": \"\xff\"}"), HasSubstr("1: "));
  EXPECT_FALSE(parse_json("[1e999]").ok());
}

class Manifests : public testing::Test {
 protected:
  static Expected<Manifest> read(const std::string& text) {
    const std::string path = testing::TempDir() + "strew_manifest_" + std::to_string(getpid()) + ".json";
    std::ofstream(path) << text;
    Expected<Manifest> manifest = read_manifest(path);
    std::filesystem::remove(path);
    return manifest;
  }
};

constexpr const char* kOp =
    "strew1.scatter(operand={t}[4,{n}]{{n},1} indices=i64[3] updates={t}[3,{n}] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob={p})";

TEST_F(Manifests, FamiliesAreAllCombinations) {
  const auto manifest =
      read(R"({"library": "lib", "targets": ["x86-64-v4", "x86-64-v2", "x86-64-v2"], "kernels": [
    {"name": "z_{t}_{n}_{p}", "op": ")" +
           std::string(kOp) + R"(", "for": {"t": ["f32", "i8"], "n": [8, 16], "p": ["clamp"]}, "schedule": "unroll=2"}]})");
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  ASSERT_EQ(manifest->kernels.size(), 4u);
  EXPECT_EQ(manifest->kernels[0].name, "z_f32_16_clamp");
  EXPECT_EQ(manifest->kernels[3].name, "z_i8_8_clamp");
  EXPECT_THAT(print(*manifest->kernels[3].op), HasSubstr("operand=i8[4,8]"));
  EXPECT_EQ(manifest->kernels[3].schedule.unroll, 2);
  // The baseline first, each target once, by what they need.
  ASSERT_EQ(manifest->targets.size(), 3u);
  EXPECT_EQ(manifest->targets[0].cpu, "x86-64");
  EXPECT_EQ(manifest->targets[1].cpu, "x86-64-v2");
  EXPECT_EQ(manifest->targets[2].cpu, "x86-64-v4");
}

TEST_F(Manifests, FunctionsForTvmFfiAreAnOption) {
  const std::string op =
      "strew1.scatter(operand=f32[4] indices=i64[3] updates=f32[3] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1)";
  const auto read_with = [&](const std::string& option, const std::string& name) {
    return read(R"({"library": "lib",)" + option + R"("kernels": [{"name": ")" + name + R"(", "op": ")" + op + R"("}]})");
  };
  const auto without = read_with("", "_k"), off = read_with("\n\"tvm_ffi\": false,", "_k"),
             on = read_with("\n\"tvm_ffi\": true,", "k");
  ASSERT_TRUE(without.ok() && off.ok() && on.ok());
  EXPECT_FALSE(without->tvm_ffi || off->tvm_ffi);
  EXPECT_TRUE(on->tvm_ffi);
  EXPECT_THAT(read_with("\n\"tvm_ffi\": true,", "_k").status().message(),
              HasSubstr(".json:2: name: '_k' begins with '_', which TVM-FFI keeps for itself"));
  EXPECT_THAT(read_with("\n\"tvm_ffi\": 1,", "k").status().message(),
              HasSubstr(".json:2: tvm_ffi: it is a number, expected true or false"));
}

TEST_F(Manifests, AnOpThatDoesNotVerifyNamesTheKernel) {
  const auto manifest = read(
      "{\"library\": \"lib\",\n\"kernels\": [\n{\"name\": \"bad\", \"op\": \"strew1.scatter(operand=f32[4] indices=i64[3] "
      "updates=f32[2] "
      "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1)\"}]}");
  EXPECT_THAT(manifest.status().message(), HasSubstr(".json:3: kernel bad: updates[0] is f32[2]"));
  EXPECT_EQ(test::rule_label(manifest.status().message()), "scatter_c4");
}

TEST_F(Manifests, ASmallTextCannotAskForEndlessKernels) {
  std::string values;
  for (int i = 0; i < 200; ++i) values += (i == 0 ? "" : ",") + std::to_string(i);
  const auto manifest = read("{\"library\": \"lib\", \"kernels\": [{\"name\": \"k\", \"op\": \"x\", \"for\": {\"a\": [" + values +
                             "], \"b\": [" + values + "], \"c\": [" + values + "]}}]}");
  EXPECT_THAT(manifest.status().message(), HasSubstr("there are more than 10000 combinations"));
}

TEST_F(Manifests, FilesThatCannotBeRead) {
  EXPECT_EQ(read_manifest("/no/such/manifest.json").status().code(), Code::io);
  EXPECT_FALSE(manifest_of_model("/no/such/model.onnx", "").ok());
}

}  // namespace
}  // namespace strew
