// The names of open extents: those that an ONNX file gives, those that follow through operations, and that a run holds to them.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "compiler/import/import_bytes.h"
#include "strew/run_program.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/paths.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;

OnnxNode node(const std::string& op, std::vector<std::string> inputs, const std::string& output,
              std::vector<ProtoWriter> attributes = {}) {
  return {op, output, "", std::move(inputs), {output}, std::move(attributes)};
}
ProtoWriter ints(const std::string& name, std::initializer_list<int64_t> values) {
  ProtoWriter out;
  out.text(1, name);
  for (const int64_t value : values) out.varint(8, static_cast<uint64_t>(value));
  return out.varint(20, 7);
}

/// x f32[batch,seq,4], y the same, places i64[picks]; `nodes` and a gather of rows of x along dim 1, which is the output.
OnnxModel model_with(std::vector<OnnxNode> nodes) {
  OnnxModel m;
  m.opset = 12;
  m.inputs = {{"x", kFloat, {kSymbolic, kSymbolic, 4}, true, {"batch", "seq", ""}},
              {"y", kFloat, {kSymbolic, kSymbolic, 4}, true, {"batch", "seq", ""}},
              {"places", kInt64, {kSymbolic}, true, {"picks"}}};
  m.nodes = std::move(nodes);
  m.nodes.push_back(node("Gather", {"x", "places"}, "rows", {onnx_int("axis", 1)}));
  m.outputs = {{"rows", kFloat, {}, false}};
  return m;
}

Program imported(const OnnxModel& model) {
  Expected<Program> out = import_bytes(model.bytes(), "m.onnx", {});
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move(*out) : Program();
}

/// The type of the value of that name, or of the input, as reports show it.
std::string type_of(const Program& file, const std::string& name) {
  for (const Value& value : file.values()) {
    const bool is_input = value.kind == ValueKind::input && file.input(value.index).name == name;
    if (is_input || value.name == name) return type_text(value.type, value.symbols);
  }
  return "no value " + name;
}

TEST(Symbols, AreThoseOfTheFile) {
  OnnxModel model = model_with({node("MatMul", {"x", "y"}, "product"), node("MatMul", {"x", "y"}, "other")});
  model.declared = {{"product", kFloat, {kSymbolic, 7, kSymbolic}, true, {"batch", "", "wide"}}};
  model.outputs = {{"rows", kFloat, {kSymbolic, kSymbolic, 4}, true, {"batch", "chosen", ""}}};
  const Program file = imported(model);
  EXPECT_EQ(type_of(file, "x"), "f32[batch,seq,4]");
  EXPECT_EQ(type_of(file, "places"), "i64[picks]");
  EXPECT_EQ(type_of(file, "product"), "f32[batch,7,wide]") << "what strew does not compute has the declared type";
  EXPECT_EQ(type_of(file, "rows"), "f32[batch,chosen,4]") << "a name of the file wins over one that follows";
  EXPECT_EQ(std::get<Gather>(*file.kernel(0).op).operand.dims, (std::vector<int64_t>{kDynamic, kDynamic, 4}));
}

TEST(Symbols, FollowThroughOperations) {
  const Program file = imported(model_with({
      node("Add", {"x", "y"}, "sum"),
      node("Transpose", {"sum"}, "turned", {ints("perm", {1, 2, 0})}),
      node("Concat", {"x", "y"}, "joined", {onnx_int("axis", 1)}),
      node("ReduceSum", {"x"}, "reduced", {ints("axes", {0}), onnx_int("keepdims", 0)}),
      node("CumSum", {"x", "places"}, "refused"),
      node("Identity", {"x"}, "same"),
  }));
  EXPECT_EQ(type_of(file, "sum"), "f32[batch,seq,4]");
  EXPECT_EQ(type_of(file, "turned"), "f32[seq,4,batch]");
  EXPECT_EQ(type_of(file, "joined"), "f32[batch,?,4]") << "a sum of two extents is neither";
  EXPECT_EQ(type_of(file, "reduced"), "f32[seq,4]");
  EXPECT_EQ(type_of(file, "rows"), "f32[batch,picks,4]") << "whole dims of the operand, and those of the indices";
}

TEST(Symbols, FollowThroughShapes) {
  OnnxModel model = model_with({
      node("Unsqueeze", {"places"}, "column", {ints("axes", {1})}),
      node("Squeeze", {"column"}, "list", {ints("axes", {1})}),
      node("Unsqueeze", {"x"}, "wide", {ints("axes", {1})}),
      node("Shape", {"y"}, "dims"),
      node("Expand", {"one", "dims"}, "filled"),
      node("Expand", {"x", "dims"}, "unknown"),
      node("Reshape", {"x", "flat"}, "rolled"),
      node("Reshape", {"places", "pairs"}, "halves"),
  });
  model.initializers = {{"one", kFloat, {1, 1, 1}, std::string(4, '\0')},
                        {"flat", kInt64, {2}, std::string(8, '\xff') + '\4' + std::string(7, '\0')},
                        {"pairs", kInt64, {2}, std::string(8, '\xff') + '\2' + std::string(7, '\0')}};
  const Program file = imported(model);
  EXPECT_EQ(type_of(file, "column"), "i64[picks,1]");
  EXPECT_EQ(type_of(file, "list"), "i64[picks]");
  EXPECT_EQ(type_of(file, "wide"), "f32[batch,1,seq,4]");
  EXPECT_EQ(type_of(file, "filled"), "f32[batch,seq,4]");
  EXPECT_EQ(type_of(file, "unknown"), "f32[?,?,4]") << "an extent of x may be 1";
  EXPECT_EQ(type_of(file, "rolled"), "f32[?,4]") << "a product of two extents";
  EXPECT_EQ(type_of(file, "halves"), "i64[?,2]") << "half of the extent";
}

TEST(Symbols, ScattersAndSlicesKeepThem) {
  OnnxModel model = onnx_scatter_model("ScatterND", {kSymbolic, kSymbolic}, {kSymbolic, 1}, {kSymbolic, kSymbolic});
  model.inputs[0].symbols = {"slots", "width"};
  model.opset = 12;
  model.initializers = {{"from", kInt64, {2}, std::string(16, '\0')},
                        {"to", kInt64, {2}, std::string(7, '\xff') + '\x7f' + std::string(7, '\xff') + '\x7f'},
                        {"later", kInt64, {2}, std::string(1, '\1') + std::string(15, '\0')}};
  const std::string result = model.nodes[0].outputs[0];
  model.nodes.push_back(node("Slice", {result, "later", "to"}, "tail"));
  model.outputs.push_back({"tail", kFloat, {}, false});
  const Program file = imported(model);
  EXPECT_EQ(type_of(file, result), "f32[slots,width]");
  EXPECT_EQ(type_of(file, "tail"), "f32[?,width]") << "the first row is cut off";
}

TEST(Symbols, AWordForUnknownIsNoName) {
  OnnxModel model = model_with({});
  model.inputs[0].symbols = {"None", "?", ""};
  model.inputs[1].symbols = {std::string(1000, 'n'), "", ""};
  const Program file = imported(model);
  EXPECT_EQ(type_of(file, "x"), "f32[?,?,4]");
  EXPECT_EQ(type_of(file, "y"), "f32[?,?,4]");
}

// An extent of a loop's body may differ from one iteration to the next.
TEST(Symbols, ThoseOfALoopsBodyAreNotTheFiles) {
  for (const char* op : {"Loop", "If"}) {
    OnnxModel model = model_with({});
    ProtoWriter body, gather, attribute;
    gather.text(1, "x").text(1, "places").text(2, "inner").text(3, "look").text(4, "Mystery");
    body.message(1, gather).text(2, "body").message(12, OnnxModel::value_info({"inner", kFloat, {kSymbolic}, true, {"batch"}}));
    attribute.text(1, "body").message(6, body).varint(20, 5);
    model.nodes.insert(model.nodes.begin(), node(op, {}, "looped", {attribute}));
    EXPECT_EQ(type_of(imported(model), "looped/body/inner"), op == std::string("If") ? "f32[batch]" : "f32[?]") << op;
  }
}

std::unique_ptr<Tensor> tensor(DType dtype, std::vector<int64_t> dims) {
  return std::make_unique<Tensor>(make_tensor(dtype, std::move(dims)).value());
}

std::string run(const Program& file, std::vector<int64_t> x, std::vector<int64_t> y) {
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(tensor(DType::f32, std::move(x)));
  inputs.push_back(tensor(DType::f32, std::move(y)));
  inputs.push_back(tensor(DType::i64, {5}));
  const auto out = run_program(runtime, file, std::move(inputs), options);
  return out.ok() ? "ok" : out.status().message();
}

TEST(Symbols, ARunHoldsToThem) {
  const Program file = imported(model_with({}));
  EXPECT_EQ(run(file, {2, 3, 4}, {2, 3, 4}), "ok");
  EXPECT_EQ(run(file, {2, 3, 4}, {2, 5, 4}),
            "extent seq: dim 1 of input 1 (y) is 5, expected 3, which dim 1 of input 0 (x) is: the file gives both this name");
  EXPECT_THAT(run(file, {2, 3}, {2, 3, 4}), HasSubstr("input 0 (x): it is f32[2,3], expected f32[batch,seq,4]"));
  OnnxModel model = model_with({});
  model.inputs[0].symbols = model.inputs[1].symbols = {"None", "?", ""};
  EXPECT_EQ(run(imported(model), {2, 3, 4}, {7, 5, 4}), "ok");
  // The same within one input.
  model.inputs[0].symbols = {"n", "n", ""};
  EXPECT_THAT(run(imported(model), {2, 3, 4}, {7, 5, 4}), HasSubstr("extent n: dim 1 of input 0 (x) is 3, expected 2"));
}

TEST(Symbols, AKernelAloneHasThem) {
  const Program cut = cut_kernel(imported(model_with({node("MatMul", {"x", "y"}, "product")})), 0);
  ASSERT_EQ(cut.inputs().size(), 2U);
  EXPECT_EQ(type_of(cut, "x"), "f32[batch,seq,4]");
}

// Of a PTO program, what the text computes of a scalar argument.
TEST(Symbols, OfPtoProgramsAreScalars) {
  std::stringstream text;
  text << std::ifstream(test::source_folder() / "tests/data/pto/row_scatter_add.pto").rdbuf();
  const Expected<Program> file = import_bytes(text.str(), "k.pto", {});
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(type_of(*file, "src"), "f32[%n,64]");
  EXPECT_EQ(type_of(*file, "idx"), "i32[1,%n]");
}

TEST(Symbols, Text) {
  const TensorType type{DType::f32, {kDynamic, 3}, {}};
  const std::vector<std::string> one{"n", ""};
  EXPECT_EQ(type_text(type, one), "f32[n,3]");
  EXPECT_EQ(type_text(type, {}), "f32[?,3]");
  EXPECT_EQ(type_text({DType::i64, {}, {}}, {}), "i64[]");
}

}  // namespace
}  // namespace strew::testing
