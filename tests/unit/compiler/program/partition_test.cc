// partitions(), cut_part() and cut(): parts of graphs with operations that strew does not run.
#include "strew/partition.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "compiler/import/import_bytes.h"
#include "strew/run_program.h"
#include "tests/support/onnx_writer.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

OnnxNode node(const std::string& op, std::vector<std::string> inputs, const std::string& output,
              std::vector<ProtoWriter> attributes = {}) {
  return {op, output, "", std::move(inputs), {output}, std::move(attributes)};
}

/// x, y, w f32[4,4]; `nodes` and, in front of them, a gather of rows of `table`, without which no file is imported.
OnnxModel model_of(std::vector<OnnxNode> nodes, const std::vector<std::string>& outputs) {
  OnnxModel m;
  m.opset = 14;
  m.inputs = {
      {"x", kFloat, {4, 4}}, {"y", kFloat, {4, 4}}, {"w", kFloat, {4, 4}}, {"table", kFloat, {4, 4}}, {"rows", kInt64, {4}}};
  m.nodes = {node("Gather", {"table", "rows"}, "picked")};
  m.nodes.insert(m.nodes.end(), nodes.begin(), nodes.end());
  for (const std::string& output : outputs) m.outputs.push_back({output, kFloat, {}, false});
  for (const OnnxNode& each : m.nodes)
    if (each.op_type == "MatMul") m.declared.push_back({each.outputs[0], kFloat, {4, 4}});
  return m;
}

Program imported(const OnnxModel& model) {
  Expected<Program> out = import_bytes(model.bytes(), "m.onnx", {});
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move(*out) : Program();
}

std::string names_of(const Program& program, const std::vector<int>& values) {
  std::string out;
  for (const int v : values) out += (out.empty() ? "" : " ") + value_name(program, v);
  return out;
}

/// "x y -> a b | nodes 1 2" of each part.
std::vector<std::string> parts_of(const Program& program, const PartitionOptions& options = {}) {
  const Expected<std::vector<Part>> parts = partitions(program, options);
  EXPECT_TRUE(parts.ok()) << parts.status().message();
  std::vector<std::string> out;
  for (const Part& part : *parts) {
    std::string text = names_of(program, part.inputs) + " -> " + names_of(program, part.outputs) + " |";
    for (const int n : part.nodes) text += " " + std::to_string(program.nodes()[n].number);
    if (part.region >= 0) text += " in " + program.opaque(part.region).operation;
    out.push_back(text);
    const Expected<Program> cut = cut_part(program, part);
    EXPECT_TRUE(cut.ok()) << cut.status().message();
    if (!cut.ok()) continue;
    EXPECT_TRUE(cut->verify().ok()) << cut->verify().message();
    EXPECT_TRUE(cut->opaques().empty());
    std::string ports, results;
    for (const ProgramInput& input : cut->inputs()) ports += (ports.empty() ? "" : " ") + input.name;
    for (const ProgramOutput& output : cut->outputs()) results += (results.empty() ? "" : " ") + output.name;
    EXPECT_EQ(ports, names_of(program, part.inputs));
    EXPECT_EQ(results, names_of(program, part.outputs));
  }
  return out;
}

const std::string kPicked = "table rows -> picked | 0";

TEST(Partition, NodesOfTheFileAreKept) {
  const Program m = imported(model_of({node("MatMul", {"x", "w"}, "m"), node("Add", {"m", "picked"}, "sum")}, {"sum"}));
  ASSERT_EQ(m.nodes().size(), 3U);
  EXPECT_EQ(m.nodes()[1].number, 1);
  EXPECT_EQ(m.nodes()[1].region, -1);
  EXPECT_EQ(m.nodes()[1].location, "m.onnx: node m (MatMul)");
  EXPECT_EQ(names_of(m, m.nodes()[1].arguments), "x w");
  EXPECT_EQ(names_of(m, m.nodes()[1].results), "m");
  EXPECT_EQ(names_of(m, m.nodes()[2].arguments), "m picked");
}

TEST(Partition, ADiamondAroundAnOpaqueNodeIsTwoParts) {
  const Program m = imported(model_of(
      {node("Add", {"x", "y"}, "a"), node("MatMul", {"a", "w"}, "m"), node("Mul", {"a", "y"}, "b"), node("Add", {"m", "b"}, "c")},
      {"c", "picked"}));
  EXPECT_THAT(parts_of(m), ElementsAre(kPicked, "x y -> a b | 1 3", "m b -> c | 4"));
}

TEST(Partition, AnOpaqueNodeBesideAPartDoesNotDivideIt) {
  // c is behind an opaque node, b is not; but nothing of the part is before that node.
  const Program m = imported(
      model_of({node("MatMul", {"x", "w"}, "m"), node("Add", {"x", "y"}, "b"), node("Add", {"m", "b"}, "c")}, {"c", "picked"}));
  EXPECT_THAT(parts_of(m), ElementsAre(kPicked, "x y m -> c | 2 3"));
}

TEST(Partition, OpaqueNodesAtTheStartAndAtTheEnd) {
  const Program m = imported(model_of(
      {node("MatMul", {"x", "w"}, "m"), node("Add", {"m", "y"}, "a"), node("Exp", {"a"}, "e"), node("MatMul", {"e", "w"}, "out")},
      {"out", "picked"}));
  EXPECT_THAT(parts_of(m), ElementsAre(kPicked, "y m -> e | 2 3"));
}

TEST(Partition, ChainsThatNothingConnectsAreParts) {
  const Program m = imported(
      model_of({node("Add", {"x", "y"}, "a"), node("Exp", {"a"}, "b"), node("Mul", {"w", "y"}, "c")}, {"b", "c", "picked"}));
  EXPECT_THAT(parts_of(m), ElementsAre(kPicked, "x y -> b | 1 2", "y w -> c | 3"));
  PartitionOptions joined;
  joined.join = true;
  EXPECT_THAT(parts_of(m, joined), ElementsAre("x y w table rows -> picked b c | 0 1 2 3"));
}

TEST(Partition, JoinedPartsDoNotWaitForEachOther) {
  const Program m = imported(model_of({node("Add", {"x", "y"}, "a"), node("MatMul", {"a", "w"}, "m"), node("Exp", {"m"}, "b"),
                                       node("MatMul", {"picked", "w"}, "n"), node("Add", {"n", "y"}, "c")},
                                      {"b", "c"}));
  PartitionOptions joined;
  joined.join = true;
  EXPECT_THAT(parts_of(m, joined), ElementsAre("x y table rows -> picked a | 0 1", "y m n -> b c | 3 5"));
}

TEST(Partition, PartsDoNotWaitForEachOtherInACircle) {
  // a1 and a2 could be one part, or b1 and b2; both could not run.
  const Program m =
      imported(model_of({node("Add", {"x", "y"}, "a1"), node("Mul", {"x", "y"}, "b1"), node("MatMul", {"a1", "w"}, "m"),
                         node("MatMul", {"b1", "w"}, "n"), node("Add", {"a1", "n"}, "a2"), node("Add", {"b1", "m"}, "b2")},
                        {"a2", "b2", "picked"}));
  const std::vector<std::string> parts = parts_of(m);
  EXPECT_THAT(parts, ElementsAre(kPicked, "x y -> b1 | 2", "x y n -> a1 a2 | 1 5", "b1 m -> b2 | 6"));
}

TEST(Partition, AValueThatIsReadInsideAndOutsideIsAnOutput) {
  const Program m = imported(
      model_of({node("Add", {"x", "y"}, "a"), node("Exp", {"a"}, "b"), node("MatMul", {"a", "w"}, "m")}, {"b", "m", "picked"}));
  EXPECT_THAT(parts_of(m), ElementsAre(kPicked, "x y -> a b | 1 2"));
}

TEST(Partition, AnInputThatIsAnOutputIsNoPartsOutput) {
  OnnxModel model = model_of({node("Add", {"x", "y"}, "a"), node("Identity", {"w"}, "same")}, {"a", "same", "picked"});
  const Program m = imported(model);
  EXPECT_THAT(parts_of(m), ElementsAre(kPicked, "x y -> a | 1"));
}

TEST(Partition, NodesThatHandOnAValueGoWithIt) {
  const Program m = imported(model_of({node("Add", {"x", "y"}, "a"), node("Identity", {"a"}, "same"), node("Exp", {"same"}, "b"),
                                       node("MatMul", {"same", "w"}, "m")},
                                      {"b", "m", "picked"}));
  EXPECT_THAT(parts_of(m), ElementsAre(kPicked, "x y -> a b | 1 2 3"));
  EXPECT_EQ(m.nodes()[2].results, m.nodes()[1].results);
}

TEST(Partition, ShapesOfWhatAPartMakesAreItsOwn) {
  OnnxModel model = model_of({node("Add", {"x", "y"}, "a"), node("Shape", {"a"}, "shape"), node("MatMul", {"a", "w"}, "m"),
                              node("Reshape", {"m", "shape"}, "r")},
                             {"r", "picked"});
  for (OnnxValue& value : model.inputs)
    if (value.type == kFloat) value.dims = {kSymbolic, kSymbolic};
  for (OnnxValue& value : model.declared) value.dims = {kSymbolic, kSymbolic};
  const Program m = imported(model);
  EXPECT_THAT(parts_of(m), ElementsAre(kPicked, "x y -> a shape | 1 2", "shape m -> r | 4"));
}

TEST(Partition, WhatOnlyTheFileReadsIsAnOutput) {
  // The shape is known, so the program reads a for b alone; but the host reads a for the node Shape, which is the second part's.
  const std::vector<OnnxNode> nodes{node("Add", {"x", "y"}, "a"),    node("Exp", {"a"}, "b"),
                                    node("Shape", {"a"}, "shape"),   node("ConstantOfShape", {"shape"}, "zeros"),
                                    node("MatMul", {"b", "w"}, "m"), node("Add", {"m", "zeros"}, "r")};
  EXPECT_THAT(parts_of(imported(model_of(nodes, {"r", "picked"}))), ElementsAre(kPicked, "x y -> a b | 1 2", "m -> r | 3 4 6"));
}

TEST(Partition, NodesThatTheFileNeedsBetweenAreNotInOnePart) {
  // r needs of m its known shape alone, which the host gets after a.
  const std::vector<OnnxNode> nodes{node("Add", {"x", "y"}, "a"), node("MatMul", {"a", "w"}, "m"), node("Shape", {"m"}, "shape"),
                                    node("ConstantOfShape", {"shape"}, "zeros"), node("Add", {"a", "zeros"}, "r")};
  EXPECT_THAT(parts_of(imported(model_of(nodes, {"r", "picked"}))), ElementsAre(kPicked, "x y -> a | 1", "a -> r | 3 4 5"));
  // The reshape does nothing, but the host gets the shape after a.
  const std::vector<OnnxNode> waiting{node("Add", {"x", "y"}, "a"), node("MatMul", {"a", "w"}, "m"),
                                      node("Shape", {"m"}, "shape"), node("Reshape", {"a", "shape"}, "same"),
                                      node("Exp", {"same"}, "r")};
  EXPECT_THAT(parts_of(imported(model_of(waiting, {"r", "picked"}))), ElementsAre(kPicked, "x y -> a | 1", "a -> r | 5"));
}

TEST(Partition, WhatIsMergedIntoAKernelIsItsPart) {
  // The gather, the scaling and the scatter are one kernel.
  OnnxModel model = model_of({node("Mul", {"picked", "y"}, "scaled"), node("MatMul", {"x", "w"}, "into")}, {"out"});
  OnnxNode scatter = node("ScatterND", {"into", "places", "scaled"}, "out", {onnx_string("reduction", "add")});
  model.opset = 18;
  model.inputs.push_back({"places", kInt64, {4, 1}});
  model.nodes.push_back(scatter);
  const Program m = imported(model);
  ASSERT_EQ(m.kernels().size(), 1U) << "the test is about a kernel of several nodes";
  EXPECT_THAT(parts_of(m), ElementsAre("y table rows places into -> out | 0 1 3"));
  PartitionOptions options;
  options.runnable = [](const Program& program, int v) { return value_name(program, v) != "scaled"; };
  EXPECT_THAT(parts_of(m, options), IsEmpty()) << "the kernel does what the host keeps";
}

TEST(Partition, TheHostMayKeepOperations) {
  const Program m =
      imported(model_of({node("Add", {"x", "y"}, "a"), node("Exp", {"a"}, "b"), node("Mul", {"b", "w"}, "c")}, {"c", "picked"}));
  PartitionOptions options;
  options.runnable = [](const Program& program, int v) { return value_name(program, v) != "b"; };
  EXPECT_THAT(parts_of(m, options), ElementsAre(kPicked, "x y -> a | 1", "w b -> c | 3"));
  options.runnable = [](const Program&, int) { return false; };
  EXPECT_THAT(parts_of(m, options), IsEmpty());
}

TEST(Partition, OnlyPartsThatAreWorthIt) {
  const Program m = imported(
      model_of({node("Add", {"x", "y"}, "a"), node("Exp", {"a"}, "b"), node("Mul", {"w", "y"}, "c")}, {"b", "c", "picked"}));
  PartitionOptions options;
  options.needs_kernel = true;
  EXPECT_THAT(parts_of(m, options), ElementsAre(kPicked));
  options = {};
  options.least_operations = 2;
  EXPECT_THAT(parts_of(m, options), ElementsAre("x y -> b | 1 2"));
  options.least_operations = 3;
  EXPECT_THAT(parts_of(m, options), IsEmpty());
  options.least_operations = -1;
  EXPECT_EQ(partitions(m, options).status().message(), "least_operations: -1, expected 0 or more");
}

TEST(Partition, StringsAreLeftToTheHostUnlessItPassesThem) {
  OnnxModel model = model_of({node("Gather", {"words", "rows"}, "chosen")}, {"chosen", "picked"});
  model.inputs.push_back({"words", kString, {9}});
  model.outputs[0].type = kString;
  const Program m = imported(model);
  EXPECT_THAT(parts_of(m), ElementsAre(kPicked));
  PartitionOptions options;
  options.strings = true;
  EXPECT_THAT(parts_of(m, options), ElementsAre(kPicked, "rows words -> chosen | 1"));
}

/// A Loop whose body adds `taken`, a gather of rows of `table`, to what it carries, after a MatMul.
OnnxModel loop_model() {
  ProtoWriter body;
  const auto body_node = [&](const OnnxNode& n) {
    ProtoWriter out;
    for (const std::string& i : n.inputs) out.text(1, i);
    for (const std::string& o : n.outputs) out.text(2, o);
    body.message(1, out.text(3, n.name).text(4, n.op_type));
  };
  body_node(node("Identity", {"go"}, "still"));
  body_node(node("Gather", {"table", "rows"}, "taken"));
  body_node(node("MatMul", {"carried", "before"}, "product"));
  body_node(node("Add", {"product", "taken"}, "next"));
  body.text(2, "body");
  for (const OnnxValue& v : std::vector<OnnxValue>{{"i", kInt64, {}}, {"go", kBool, {}}, {"carried", kFloat, {4, 4}}})
    body.message(11, OnnxModel::value_info(v));
  for (const OnnxValue& v : std::vector<OnnxValue>{{"still", kBool, {}}, {"next", kFloat, {4, 4}}})
    body.message(12, OnnxModel::value_info(v));
  body.message(13, OnnxModel::value_info({"product", kFloat, {4, 4}}));
  OnnxNode loop = node("Loop", {"times", "", "x"}, "last", {ProtoWriter().text(1, "body").message(6, body).varint(20, 5)});
  OnnxModel m =
      model_of({node("Add", {"x", "y"}, "before"), loop, node("Add", {"last", "before"}, "after")}, {"after", "picked"});
  m.inputs.push_back({"times", kInt64, {}});
  m.declared.push_back({"last", kFloat, {4, 4}});
  return m;
}

TEST(Partition, NoPartReachesIntoALoop) {
  const Program m = imported(loop_model());
  EXPECT_THAT(parts_of(m),
              ElementsAre(kPicked, "x y -> before | 1", "table rows last/body/product -> last/body/next | 1 3 in Loop",
                          "before last -> after | 3"));
  PartitionOptions joined;
  joined.join = true;
  const std::vector<Part> parts = partitions(m, joined).value();
  for (const Part& part : parts)
    for (const int n : part.nodes) EXPECT_EQ(m.nodes()[n].region, part.region);
}

TEST(Partition, ProgramsWithoutOpaqueNodesAreWhole) {
  const Program m = imported(model_of({node("Add", {"x", "picked"}, "a")}, {"a"}));
  EXPECT_THAT(parts_of(m), ElementsAre("x table rows -> a | 0 1"));
  EXPECT_THAT(parts_of(Program()), IsEmpty());
}

TEST(Partition, PartsOfAnotherProgramAreRefused) {
  const Program m = imported(model_of({node("Add", {"x", "y"}, "a"), node("MatMul", {"a", "w"}, "m")}, {"m", "picked"}));
  const Part good = partitions(m).value().back();
  const auto message = [&](const std::function<void(Part&)>& spoil) {
    Part part = good;
    spoil(part);
    return cut_part(m, part).status().message();
  };
  EXPECT_EQ(message([](Part&) {}), "");
  EXPECT_THAT(message([](Part& part) { part.outputs.clear(); }), HasSubstr("part: outputs: it has none"));
  EXPECT_THAT(message([](Part& part) { part.outputs = {1000}; }), HasSubstr("part: outputs: no such value"));
  EXPECT_THAT(message([](Part& part) { part.outputs = {-1}; }), HasSubstr("part: outputs: no such value"));
  EXPECT_THAT(message([](Part& part) { part.inputs.pop_back(); }), HasSubstr("part: inputs: they are not what the outputs need"));
  EXPECT_THAT(message([](Part& part) { part.inputs.push_back(-7); }), HasSubstr("part: inputs: they are not"));
  EXPECT_THAT(message([&](Part& part) {
                part.outputs = {m.outputs()[0].value};
                part.inputs = {};
              }),
              HasSubstr("part: outputs: they need an operation that strew does not run"));
}

// ---- Between values that have names ------------------------------------------------------------------------------------------------

Program chain() {
  return imported(model_of({node("Add", {"x", "y"}, "first"), node("MatMul", {"first", "w"}, "product"),
                            node("Exp", {"product"}, "second"), node("Mul", {"second", "y"}, "third")},
                           {"third", "picked"}));
}

std::string cut_text(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  const Expected<Program> out = cut(chain(), from, to);
  if (!out.ok()) return out.status().message();
  EXPECT_TRUE(out->verify().ok()) << out->verify().message();
  std::string text;
  for (const ProgramInput& input : out->inputs()) text += input.name + " ";
  text += "->";
  for (const ProgramOutput& output : out->outputs()) text += " " + output.name;
  return text;
}

TEST(Cut, ReachesFromValuesToValues) {
  EXPECT_EQ(cut_text({}, {"first"}), "x y -> first");
  EXPECT_EQ(cut_text({"product"}, {"third"}), "y product -> third");
  EXPECT_EQ(cut_text({"second"}, {"third", "picked"}), "y table rows second -> third picked");
  EXPECT_EQ(cut_text({"product"}, {}), "y table rows product -> third picked");
}

TEST(Cut, SaysWhatIsWrongWithNames) {
  EXPECT_EQ(cut_text({"produkt"}, {"third"}), "from: no value of the file is called 'produkt', did you mean 'product'?");
  EXPECT_EQ(cut_text({}, {"nothing like it"}), "to: no value of the file is called 'nothing like it'");
  EXPECT_EQ(cut_text({"product", "product"}, {"third"}), "from: 'product' is given twice, expected once");
  EXPECT_THAT(cut_text({"picked"}, {"first"}), HasSubstr("from: 'picked' is not read by what computes the outputs"));
  EXPECT_EQ(cut_text({}, {"third"}),
            "m.onnx: node product (MatMul): strew does not run this operation; expected its result 'product' in from");
}

}  // namespace
}  // namespace strew::testing
