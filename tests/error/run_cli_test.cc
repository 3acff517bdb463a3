// strew run: what is said of inputs that do not fit by name or number, of options without effect, of outputs that nobody asked for, and of the
// time of a whole program.
#include <nlohmann/json.hpp>

#include "tests/support/cli.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using Json = nlohmann::json;

/// A scatter, and a transpose that no kernel needs.
OnnxModel model() {
  OnnxModel m;
  m.opset = 18;
  m.inputs = {{"table", kFloat, {8, 4}}, {"slots", kInt64, {3, 1}}, {"rows", kFloat, {3, 4}}, {"other", kInt64, {3}}};
  m.outputs = {{"present", kFloat, {8, 4}}, {"turned", kFloat, {4, 8}}, {"found", kFloat, {3, 4}}};
  m.nodes = {{"ScatterND", "write", "", {"table", "slots", "rows"}, {"present"}, {}},
             {"Transpose", "turn", "", {"table"}, {"turned"}, {}},
             {"Gather", "look", "", {"table", "other"}, {"found"}, {}}};
  return m;
}

class RunCli : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write("model.onnx", model().bytes());
    write_tensor("table.npy", DType::f32, {8, 4}, {});
    write_tensor("rows.npy", DType::f32, {3, 4}, std::string(48, '?'));
    write_tensor("slots.npy", DType::i64, {3, 1}, std::string(24, '\0'));
    write_indices("other.npy", {1, 7, 0});
  }
  static constexpr const char* kAll = " --input table.npy slots.npy rows.npy other.npy";
};

TEST_F(RunCli, AnUnknownNameIsNoFileName) {
  EXPECT_EQ(failure(2, "run model.onnx --kernel write --input tabel=table.npy slots.npy rows.npy"),
            "error: --input tabel=table.npy: no input 'tabel', did you mean 'table'?\n");
  EXPECT_EQ(failure(2, "run model.onnx --kernel write --input keys=rows.npy"),
            "error: --input keys=rows.npy: no input 'keys', expected table, slots, rows\n");
  EXPECT_EQ(failure(2, "run model.onnx --input x=table.npy slots.npy rows.npy other.npy"),
            "error: --input x=table.npy: no input 'x', expected table, slots, rows, other\n");
  write("a=b.npy", read("table.npy"));  // a file may have such a name
  success("run model.onnx --kernel write --input a=b.npy slots.npy rows.npy --output y.npy");
}

TEST_F(RunCli, MessagesNameTheInput) {
  EXPECT_THAT(failure(1, "run model.onnx --kernel write --input table.npy rows.npy rows.npy"),
              HasSubstr("rows.npy: the items are <f4, expected <i8 for i64, for input slots"));
  // One file too many for the kernel is as many as the file has inputs, and then they are taken as those.
  EXPECT_THAT(
      failure(1, "run model.onnx --kernel write --input table.npy rows.npy slots.npy other.npy"),
      HasSubstr(
          "for input slots; 4 files are given, so they are taken as those of the file's inputs, of which kernel write needs 3: "
          "table f32[8,4], slots i64[3,1], rows f32[3,4]"));
}

TEST_F(RunCli, OptionsWithoutEffectAreWarnedOf) {
  const std::string run = std::string("run model.onnx") + kAll + " --output a.npy b.npy c.npy ";
  Outcome o = strew(run + "--oob fill_element");
  EXPECT_EQ(o.exit, 0);
  EXPECT_EQ(o.err, "warning: --oob: write: keeps its policy: a scatter has no fill_element\n");
  o = strew(run + "--order relaxed");
  EXPECT_EQ(o.exit, 0);
  EXPECT_THAT(o.err, MatchesRegex("warning: --order relaxed: it changes nothing, because no kernel adds floats.*\n"));
  success(run + "--oob clamp --order in_order");
  write_tensor("four.npy", DType::f32, {4}, "");
  write_tensor("two.npy", DType::f32, {2}, "");
  write_tensor("at.npy", DType::i32, {2}, "");
  success("run add.strew --order relaxed --input four.npy at.npy two.npy --output y.npy");
}

TEST_F(RunCli, WithoutOutputItSaysWhatItComputed) {
  const std::string said = "computed and not written (--output FILE): present f32[8,4], turned f32[4,8], found f32[3,4]\n";
  EXPECT_EQ(success(std::string("run model.onnx") + kAll), said);
  EXPECT_THAT(success(std::string("run model.onnx --output a.npy b.npy c.npy") + kAll), IsEmpty());
}

TEST_F(RunCli, TheTimeOfAProgramIsThatOfAllOfIt) {
  const std::string text = success(std::string("run model.onnx --time --output a.npy b.npy c.npy") + kAll);
  EXPECT_THAT(text, HasSubstr("\nwhole file  "));
  EXPECT_THAT(text.substr(text.find("whole file")),
              MatchesRegex("whole file  [0-9.]+ [a-z]+ .median of [0-9]+.: kernels [0-9.]+ [a-z]+, Transpose [0-9.]+ [a-z]+ "
                           ".interpreted., memory and checks [0-9.]+ [a-z]+; without reading and writing files and compiling\n"));
  const Json json = Json::parse(success(std::string("run model.onnx --time --json") + kAll));
  EXPECT_GT(json["whole"]["ns"], 0);
  EXPECT_GT(json["whole"]["interpreted_ns"]["Transpose"], 0);
  EXPECT_LT(json["whole"]["kernels_ns"], json["whole"]["ns"]);
  // A kernel alone is what its own lines say.
  EXPECT_THAT(success("run model.onnx --kernel write --input table.npy slots.npy rows.npy --time"), Not(HasSubstr("whole file")));
}

}  // namespace
}  // namespace strew::testing
