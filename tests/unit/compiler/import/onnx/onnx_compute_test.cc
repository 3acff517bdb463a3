// ONNX's operators around the kernels: what each computes, what is worked out before the call, and what is refused and becomes opaque.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <map>

#include "base/number.h"
#include "compiler/import/import_bytes.h"
#include "compiler/import/onnx/onnx.h"
#include "strew/run_program.h"
#include "strew/text.h"
#include "tests/support/fuzz_seed.h"
#include "tests/support/onnx_writer.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Numbers = std::vector<int64_t>;

std::string raw_of(const Numbers& numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t));
}

ProtoWriter onnx_ints(const std::string& name, const Numbers& values) {
  ProtoWriter out;
  out.text(1, name);
  for (const int64_t value : values) out.varint(8, static_cast<uint64_t>(value));
  return out.varint(20, 7);
}

/// A model of i64 tensors: input x, constants by name, the nodes, and output y. A Gather beside them makes it one that strew takes.
struct Model {
  std::vector<int64_t> dims = {2, 3};
  std::vector<OnnxNode> nodes;
  std::vector<std::pair<std::string, Numbers>> constants = {};
  int64_t opset = 18;

  OnnxModel onnx() const {
    OnnxModel m;
    m.opset = opset;
    m.inputs = {{"x", kInt64, dims}};
    m.outputs = {{"y", kInt64, {}, false}};
    m.nodes = nodes;
    for (const auto& [name, numbers] : constants) {
      const bool is_scalar = name.starts_with("s_");
      m.initializers.push_back(
          {name, kInt64, is_scalar ? Numbers{} : Numbers{static_cast<int64_t>(numbers.size())}, raw_of(numbers)});
    }
    m.inputs.push_back({"zero", kInt64, {1}});
    m.nodes.push_back({"Gather", "kernel", "", {"zero", "zero"}, {"gathered"}, {}});
    return m;
  }
};

OnnxNode node(const std::string& op, std::vector<std::string> inputs, std::vector<std::string> outputs = {"y"},
              std::vector<ProtoWriter> attributes = {}) {
  return {op, op + "_of_" + outputs[0], "", std::move(inputs), std::move(outputs), std::move(attributes)};
}

Program imported(const Model& model) {
  Expected<Program> out = onnx::import_model(model.onnx().bytes(), "m.onnx", {});
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move(*out) : Program{};
}

/// The operators of models that ran, each with the first of these models.
std::map<std::string, std::string>& that_ran() {
  static std::map<std::string, std::string> models;
  return models;
}

struct Result {
  std::vector<int64_t> dims;
  Numbers values;
};

/// Runs the model on x = 0, 1, 2, … of these dims.
Result run(const Model& model, std::vector<int64_t> dims = {2, 3}) {
  auto x = std::make_unique<Tensor>(std::move(*make_tensor(DType::i64, std::move(dims))));
  for (int64_t i = 0; i < x->elements(); ++i) reinterpret_cast<int64_t*>(x->data.data())[i] = i;
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(std::move(x));
  inputs.push_back(nullptr);  // of the Gather, which no output needs
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  const Program program = imported(model);
  for (const Opaque& opaque : program.opaques()) ADD_FAILURE() << opaque.location << ": " << opaque.reason;
  const Expected<std::vector<Tensor>> out = run_program(Runtime::process(), program, std::move(inputs), options);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  for (const OnnxNode& each : model.nodes) that_ran().emplace(each.op_type, model.onnx().bytes());
  Result result{(*out)[0].dims, Numbers(static_cast<size_t>((*out)[0].elements()))};
  const Tensor& y = (*out)[0];
  for (size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = decode_i64(y.dtype, load_element(y.dtype, y.data.data(), static_cast<int64_t>(i)).bits[0]);
  return result;
}

/// Runs the model with known dims and, if it can have them, with open ones, and expects the same of both.
void expect(Model model, std::vector<int64_t> dims, const Numbers& values, bool can_be_open = true) {
  for (const bool open : {false, true}) {
    if (open && !can_be_open) return;
    if (open) model.dims.assign(model.dims.size(), kSymbolic);
    const Result result = run(model);
    EXPECT_THAT(result.dims, ElementsAreArray(dims)) << model.nodes[0].op_type << (open ? ", open" : "");
    EXPECT_THAT(result.values, ElementsAreArray(values)) << model.nodes[0].op_type << (open ? ", open" : "");
  }
}

void movement() {
  expect({.nodes = {node("Identity", {"x"})}}, {2, 3}, {0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Transpose", {"x"})}}, {3, 2}, {0, 3, 1, 4, 2, 5});
  expect({.nodes = {node("Flatten", {"x"}, {"y"}, {onnx_int("axis", 0)})}}, {1, 6}, {0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Reshape", {"x", "shape"})}, .constants = {{"shape", {3, -1}}}}, {3, 2}, {0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Reshape", {"x", "shape"})}, .constants = {{"shape", {0, 1, -1}}}, .opset = 13}, {2, 1, 3},
         {0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Unsqueeze", {"x", "axes"})}, .constants = {{"axes", {-1, 0}}}}, {1, 2, 3, 1}, {0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Unsqueeze", {"x"}, {"y"}, {onnx_ints("axes", {1})})}, .opset = 11}, {2, 1, 3}, {0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Unsqueeze", {"x", "axes"}, {"u"}), node("Squeeze", {"u", "axes"})}, .constants = {{"axes", {1}}}},
         {2, 3}, {0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Constant", {}, {"shape"}, {onnx_ints("value_ints", {6})}), node("Reshape", {"x", "shape"})}}, {6},
         {0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Concat", {"x", "x"}, {"y"}, {onnx_int("axis", -1)})}}, {2, 6}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  expect({.nodes = {node("Expand", {"x", "shape"})}, .constants = {{"shape", {2, 1, 1}}}}, {2, 2, 3},
         {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Slice", {"x", "starts", "ends", "axes"})},
          .constants = {{"starts", {1}}, {"ends", {INT64_MAX}}, {"axes", {1}}}},
         {2, 2}, {1, 2, 4, 5});
  // Steps longer than any dim, and the longest of all, take one element.
  expect({.nodes = {node("Slice", {"x", "starts", "ends", "axes", "steps"})},
          .constants = {{"starts", {0}}, {"ends", {3}}, {"axes", {1}}, {"steps", {INT64_MAX}}}},
         {2, 1}, {0, 3}, /*open=*/false);
  expect({.nodes = {node("Slice", {"x", "starts", "ends", "axes", "steps"})},
          .constants = {{"starts", {2}}, {"ends", {INT64_MIN}}, {"axes", {1}}, {"steps", {INT64_MIN}}}},
         {2, 1}, {2, 5}, /*open=*/false);
  expect({.nodes = {node("Slice", {"x", "starts", "ends", "axes", "steps"})},
          .constants = {{"starts", {1}}, {"ends", {INT64_MAX}}, {"axes", {1}}, {"steps", {INT64_MAX}}}},
         {2, 1}, {1, 4});
  EXPECT_THAT(run({.nodes = {node("Slice", {"x", "starts", "ends", "axes", "steps"})},
                   .constants = {{"starts", {-1}}, {"ends", {INT64_MIN}}, {"axes", {1}}, {"steps", {-2}}}})
                  .values,
              ElementsAre(2, 0, 5, 3));
  expect({.nodes = {node("Tile", {"x", "repeats"})}, .constants = {{"repeats", {2, 1}}}}, {4, 3},
         {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Tile", {"x", "repeats"})}, .constants = {{"repeats", {1, 2}}}}, {2, 6},
         {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  expect({.nodes = {node("Shape", {"x"}, {"repeats"}), node("Tile", {"x", "repeats"})}}, {4, 9},
         {0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5});
  EXPECT_THAT(
      run({.nodes = {node("Split", {"x", "parts"}, {"a", "y"}, {onnx_int("axis", 1)})}, .constants = {{"parts", {1, 2}}}}).values,
      ElementsAre(1, 2, 4, 5));
}
TEST(OnnxCompute, Movement) { movement(); }

void elementwise() {
  expect({.nodes = {node("Add", {"x", "s_7"})}, .constants = {{"s_7", {7}}}}, {2, 3}, {7, 8, 9, 10, 11, 12});
  expect({.nodes = {node("Mul", {"x", "row"})}, .constants = {{"row", {1, 10, 100}}}}, {2, 3}, {0, 10, 200, 3, 40, 500});
  expect({.nodes = {node("Sub", {"s_3", "x"}, {"d"}), node("Mod", {"d", "s_2"})}, .constants = {{"s_3", {3}}, {"s_2", {2}}}},
         {2, 3}, {1, 0, 1, 0, 1, 0});  // the sign of the divisor: -1 mod 2 is 1
  expect({.nodes = {node("Sub", {"s_3", "x"}, {"d"}), node("Mod", {"d", "s_2"}, {"y"}, {onnx_int("fmod", 1)})},
          .constants = {{"s_3", {3}}, {"s_2", {2}}}},
         {2, 3}, {1, 0, 1, 0, -1, 0});
  expect({.nodes = {node("Less", {"x", "s_3"}, {"small"}), node("Where", {"small", "s_9", "x"})},
          .constants = {{"s_3", {3}}, {"s_9", {9}}}},
         {2, 3}, {9, 9, 9, 3, 4, 5});
  expect({.nodes = {node("Clip", {"x", "s_1", "s_4"})}, .constants = {{"s_1", {1}}, {"s_4", {4}}}}, {2, 3}, {1, 1, 2, 3, 4, 4});
  expect({.nodes = {node("Max", {"x", "s_2", "s_3"})}, .constants = {{"s_2", {2}}, {"s_3", {3}}}}, {2, 3}, {3, 3, 3, 3, 4, 5});
  expect({.nodes = {node("Cast", {"x"}, {"y"}, {onnx_int("to", kBool)})}}, {2, 3}, {0, 1, 1, 1, 1, 1});
  expect({.nodes = {node("GreaterOrEqual", {"x", "s_3"}, {"b"}), node("CastLike", {"b", "x"})}, .constants = {{"s_3", {3}}}},
         {2, 3}, {0, 0, 0, 1, 1, 1});
  // Squares; and x / 2, rounded to even, as a number of 8 bits and back.
  const OnnxNode floats = node("Cast", {"x"}, {"f"}, {onnx_int("to", kFloat)}),
                 two = node("Cast", {"s_2"}, {"two"}, {onnx_int("to", kFloat)});
  const auto whole = [](const char* of) { return node("Cast", {of}, {"y"}, {onnx_int("to", kInt64)}); };
  expect({.nodes = {floats, node("Pow", {"f", "s_2"}, {"p"}), whole("p")}, .constants = {{"s_2", {2}}}}, {2, 3},
         {0, 1, 4, 9, 16, 25});
  expect({.nodes = {floats, two, node("QuantizeLinear", {"f", "two"}, {"q"}), whole("q")}, .constants = {{"s_2", {2}}}}, {2, 3},
         {0, 0, 1, 2, 2, 2});
  expect({.nodes = {floats, two, node("QuantizeLinear", {"f", "two"}, {"q"}), node("DequantizeLinear", {"q", "two"}, {"d"}),
                    whole("d")},
          .constants = {{"s_2", {2}}}},
         {2, 3}, {0, 0, 2, 4, 4, 4});
}
TEST(OnnxCompute, Elementwise) { elementwise(); }

void math_of_floats() {
  struct Function {
    const char* op;
    double (*value)(double);
  };
  const Function functions[] = {{"Abs", std::fabs},
                                {"Ceil", std::ceil},
                                {"Cos", std::cos},
                                {"Erf", std::erf},
                                {"Exp", std::exp},
                                {"Floor", std::floor},
                                {"Log", std::log},
                                {"Neg", [](double v) { return -v; }},
                                {"Reciprocal", [](double v) { return 1 / v; }},
                                {"Relu", [](double v) { return v < 0 ? 0 : v; }},
                                {"Round", std::nearbyint},
                                {"Sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
                                {"Sign", [](double v) { return v < 0 ? -1.0 : 1.0; }},
                                {"Sin", std::sin},
                                {"Sqrt", std::sqrt},
                                {"Tan", std::tan},
                                {"Tanh", std::tanh}};
  for (const Function& each : functions) {
    // Thousandths of the function at 0.5, 1, 1.5, ...
    const Result result = run(
        {.nodes = {node("Cast", {"x"}, {"f"}, {onnx_int("to", kFloat)}),
                   node("Cast", {"numbers"}, {"floats"}, {onnx_int("to", kFloat)}),
                   node("Split", {"floats"}, {"one", "two", "many"}, {onnx_int("axis", 0)}), node("Add", {"f", "one"}, {"up"}),
                   node("Div", {"up", "two"}, {"halves"}), node(each.op, {"halves"}, {"g"}),
                   node("Mul", {"g", "many"}, {"thousands"}), node("Cast", {"thousands"}, {"y"}, {onnx_int("to", kInt64)})},
         .constants = {{"numbers", {1, 2, 1000}}}});
    ASSERT_EQ(result.values.size(), 6U) << each.op;
    for (size_t i = 0; i < 6; ++i)
      EXPECT_NEAR(static_cast<double>(result.values[i]), 1000 * each.value(0.5 * static_cast<double>(i + 1)), 1.01) << each.op;
  }
}
TEST(OnnxCompute, MathOfFloats) { math_of_floats(); }

void logic_and_bits() {
  const auto bits = [](const std::string& op) { return Model{.nodes = {node(op, {"x", "s_6"})}, .constants = {{"s_6", {6}}}}; };
  expect(bits("BitwiseAnd"), {2, 3}, {0, 0, 2, 2, 4, 4});
  expect(bits("BitwiseOr"), {2, 3}, {6, 7, 6, 7, 6, 7});
  expect(bits("BitwiseXor"), {2, 3}, {6, 7, 4, 5, 2, 3});
  expect({.nodes = {node("BitwiseNot", {"x"})}}, {2, 3}, {-1, -2, -3, -4, -5, -6});
  expect({.nodes = {node("Neg", {"x"}, {"n"}), node("Sign", {"n"})}}, {2, 3}, {0, -1, -1, -1, -1, -1});
  expect({.nodes = {node("Neg", {"x"}, {"n"}), node("Abs", {"n"})}}, {2, 3}, {0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("Sum", {"x", "x", "s_6"})}, .constants = {{"s_6", {6}}}}, {2, 3}, {6, 8, 10, 12, 14, 16});
  expect({.nodes = {node("Min", {"x", "s_2"})}, .constants = {{"s_2", {2}}}}, {2, 3}, {0, 1, 2, 2, 2, 2});
  expect({.nodes = {node("Dropout", {"x"})}}, {2, 3}, {0, 1, 2, 3, 4, 5});
  // Is x above 1, and is it below 4?
  const auto logic = [](const std::string& op) {
    return Model{.nodes = {node("Greater", {"x", "s_1"}, {"a"}), node("LessOrEqual", {"x", "s_3"}, {"b"}),
                           node(op, {"a", "b"}, {"c"}), node("Cast", {"c"}, {"y"}, {onnx_int("to", kInt64)})},
                 .constants = {{"s_1", {1}}, {"s_3", {3}}}};
  };
  expect(logic("And"), {2, 3}, {0, 0, 1, 1, 0, 0});
  expect(logic("Or"), {2, 3}, {1, 1, 1, 1, 1, 1});
  expect(logic("Xor"), {2, 3}, {1, 1, 0, 0, 1, 1});
  expect({.nodes = {node("Equal", {"x", "s_3"}, {"a"}), node("Not", {"a"}, {"b"}),
                    node("Cast", {"b"}, {"y"}, {onnx_int("to", kInt64)})},
          .constants = {{"s_3", {3}}}},
         {2, 3}, {1, 1, 1, 0, 1, 1});
  expect({.nodes = {node("Cast", {"x"}, {"f"}, {onnx_int("to", kFloat)}), node("Div", {"f", "f"}, {"q"}),
                    node("IsNaN", {"q"}, {"n"}), node("Cast", {"n"}, {"y"}, {onnx_int("to", kInt64)})}},
         {2, 3}, {1, 0, 0, 0, 0, 0});  // 0 / 0
}
TEST(OnnxCompute, LogicAndBits) { logic_and_bits(); }

void shapes_and_numbers() {
  expect({.nodes = {node("Shape", {"x"})}}, {2}, {2, 3});
  expect({.nodes = {node("Shape", {"x"}, {"y"}, {onnx_int("start", -1)})}}, {1}, {3});
  expect({.nodes = {node("Size", {"x"})}}, {}, {6});
  expect({.nodes = {node("Shape", {"x"}, {"s"}), node("ConstantOfShape", {"s"}, {"f"}),
                    node("Cast", {"f"}, {"y"}, {onnx_int("to", kInt64)})}},
         {2, 3}, {0, 0, 0, 0, 0, 0});
  // The rows of x as a range: shapes of shapes stay numbers and extents.
  expect({.nodes = {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "s_0"}, {"n"}), node("Range", {"s_0", "n", "s_1"})},
          .constants = {{"s_0", {0}}, {"s_1", {1}}}},
         {2}, {0, 1});
  expect({.nodes = {node("Shape", {"x"}, {"s"}), node("Slice", {"s", "one", "end"}, {"last"}),
                    node("Concat", {"last", "two"}, {"t"}, {onnx_int("axis", 0)}), node("Reshape", {"x", "t"})},
          .constants = {{"one", {1}}, {"end", {2}}, {"two", {2}}}},
         {3, 2}, {0, 1, 2, 3, 4, 5});
  expect({.nodes = {node("NonZero", {"numbers"})}, .constants = {{"numbers", {0, 5, 0, -1}}}}, {1, 2}, {1, 3});
  expect({.nodes = {node("Reshape", {"numbers", "square"}, {"m"}), node("NonZero", {"m"})},
          .constants = {{"numbers", {0, 5, 7, -1}}, {"square", {2, 2}}}},
         {2, 3}, {0, 1, 1, 1, 0, 1});
  expect({.nodes = {node("CumSum", {"x", "s_1"})}, .constants = {{"s_1", {1}}}}, {2, 3}, {0, 1, 3, 3, 7, 12});
  expect({.nodes = {node("CumSum", {"x", "s_1"}, {"y"}, {onnx_int("exclusive", 1), onnx_int("reverse", 1)})},
          .constants = {{"s_1", {1}}}},
         {2, 3}, {3, 2, 0, 9, 5, 0});
  expect({.nodes = {node("ReduceSum", {"x", "axes"}, {"y"}, {onnx_int("keepdims", 0)})}, .constants = {{"axes", {1}}}}, {2},
         {3, 12});
  expect({.nodes = {node("ReduceMax", {"x", "axes"})}, .constants = {{"axes", {0}}}}, {1, 3}, {3, 4, 5});
  expect({.nodes = {node("ReduceMin", {"x", "axes"})}, .constants = {{"axes", {1}}}}, {2, 1}, {0, 3});
  expect({.nodes = {node("ReduceProd", {"x", "axes"})}, .constants = {{"axes", {0}}}}, {1, 3}, {0, 4, 10});
  EXPECT_THAT(run({.nodes = {node("OneHot", {"x", "s_3", "values"})}, .constants = {{"s_3", {3}}, {"values", {0, 1}}}}).values,
              ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  // x has the indices of two rows, which are its own, and others.
  expect({.nodes = {node("OneHot", {"x", "s_2", "values"}, {"h"}), node("MatMul", {"h", "x"})},
          .constants = {{"s_2", {2}}, {"values", {0, 1}}}},
         {2, 3, 3}, {0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, /*can_be_open=*/false);
}
TEST(OnnxCompute, ShapesAndNumbers) { shapes_and_numbers(); }

TEST(OnnxCompute, ShapesOfKnownTensorsBecomeConstants) {
  const Program m =
      imported({.nodes = {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "s_1"}, {"n"}), node("Mul", {"n", "n"})},
                .constants = {{"s_1", {1}}}});
  EXPECT_THAT(m.computes(), IsEmpty());
  EXPECT_EQ(m.value(m.outputs()[0].value).kind, ValueKind::constant);
  EXPECT_EQ(m.kernels().size(), 1U) << "the gather of a shape is no kernel";
}

/// Why the first node of the model is opaque.
std::string reason(const Model& model) {
  const Program m = imported(model);
  return m.opaques().empty() ? "run" : m.opaque(0).reason;
}

TEST(OnnxCompute, WhatIsNotRunIsOpaque) {
  EXPECT_EQ(reason({.nodes = {node("MatMul", {"x", "x"})}}), "") << "an operator that no table has needs no reason";
  EXPECT_THAT(reason({.nodes = {node("Reshape", {"x", "shape"})}, .constants = {{"shape", {4, 2}}}}),
              HasSubstr("has 6 elements, expected 8"));
  EXPECT_THAT(reason({.nodes = {node("Reshape", {"x", "shape"})}, .constants = {{"shape", {-1, -1}}}}),
              HasSubstr("several dims of -1"));
  Model no_outputs{.nodes = {node("Split", {"x"}), node("Identity", {"x"})}};
  no_outputs.nodes[0].outputs.clear();
  EXPECT_THAT(reason(no_outputs), HasSubstr("it has no outputs"));
  EXPECT_THAT(reason({.nodes = {node("Transpose", {"x"}, {"y"}, {onnx_ints("perm", {0, 0})})}}),
              HasSubstr("each of 0 to 1 once"));
  EXPECT_THAT(reason({.nodes = {node("Concat", {"x", "row"}, {"y"}, {onnx_int("axis", 0)})}, .constants = {{"row", {1}}}}),
              HasSubstr("the same dtype and rank"));
  EXPECT_THAT(reason({.nodes = {node("Add", {"x", "row"})}, .constants = {{"row", {1, 2}}}}),
              HasSubstr("expected equal ones or 1"));
  EXPECT_THAT(reason({.nodes = {node("Unsqueeze", {"x", "axes"})}, .constants = {{"axes", {4}}}}), HasSubstr("expected -3 to 2"));
  EXPECT_THAT(reason({.nodes = {node("Squeeze", {"x", "axes"})}, .constants = {{"axes", {0}}}}),
              HasSubstr("dim 0 is 2, expected 1"));
  EXPECT_THAT(reason({.nodes = {node("Add", {"x", "x"}, {"y"}, {onnx_int("axis", 1)})}}),
              HasSubstr("attribute 'axis' is unknown"));
  // Products and counts that do not fit are refused, and are no small numbers.
  constexpr int64_t kLong = int64_t{1} << 32;
  EXPECT_THAT(reason({.dims = {1}, .nodes = {node("Expand", {"x", "shape"})}, .constants = {{"shape", {kLong, kLong}}}}),
              HasSubstr("does not fit 63 bits"));
  EXPECT_THAT(reason({.dims = {0}, .nodes = {node("Reshape", {"x", "shape"})}, .constants = {{"shape", {kLong, kLong}}}}),
              HasSubstr("does not fit 63 bits"));
  EXPECT_THAT(reason({.dims = {0, kLong, kLong}, .nodes = {node("Flatten", {"x"})}}), HasSubstr("does not fit 63 bits"));
  EXPECT_THAT(reason({.nodes = {node("Range", {"s_low", "s_high", "s_1"})},
                      .constants = {{"s_low", {INT64_MIN}}, {"s_high", {INT64_MAX}}, {"s_1", {1}}}}),
              HasSubstr("does not fit 63 bits"));
  EXPECT_THAT(
      reason({.nodes = {node("Split", {"x", "parts"}, {"y", "z", "w"})}, .constants = {{"parts", {INT64_MAX, INT64_MAX, 4}}}}),
      HasSubstr("expected 3 numbers, 0 or more, that sum up to 2"));
  EXPECT_THAT(reason({.nodes = {node("OneHot", {"x", "s_3", "x"})}, .constants = {{"s_3", {3}}}}),
              HasSubstr("sliced in 1 dims, expected all"));
  EXPECT_THAT(reason({.nodes = {node("Range", {"s_0", "s_0", "s_0"})}, .constants = {{"s_0", {0}}}}), HasSubstr("delta of 0"));
}

TEST(OnnxCompute, EveryOperatorHasAnExample) {
  that_ran().clear();
  for (const auto& examples : {movement, elementwise, math_of_floats, logic_and_bits, shapes_and_numbers}) examples();
  for (const onnx::Operator& op : onnx::operators())
    if (!op.form.indexed) {
      ASSERT_TRUE(that_ran().contains(std::string(op.name))) << op.name << " has no example here";
      test::check_seed("onnx/" + std::string(op.name) + ".onnx", that_ran()[std::string(op.name)]);
    }
}

// No operator takes what it does not know: each row of the tables refuses an attribute that it does not have.
TEST(OnnxCompute, UnknownAttributesAreNotIgnored) {
  for (const onnx::Operator& op : onnx::operators()) {
    if (op.form.indexed) continue;
    EXPECT_THAT(reason({.nodes = {node(std::string(op.name), {"x"}, {"y"}, {onnx_int("nonsense", 1)})}}),
                ::testing::AnyOf(HasSubstr("nonsense"), HasSubstr("inputs, expected")))
        << op.name;
  }
  EXPECT_THAT(reason({.nodes = {node("Dropout", {"x"}, {"y", "mask"})}}), HasSubstr("mask is used"));
}

TEST(OnnxCompute, ConstantsThatAreComputedAtRunTimeAreRefusedWhereTheyMustBeKnown) {
  EXPECT_THAT(reason({.dims = {2}, .nodes = {node("CumSum", {"x", "x"})}}), HasSubstr("is computed when the model runs"));
  EXPECT_THAT(reason({.nodes = {node("NonZero", {"x"})}}), HasSubstr("is computed when the model runs"));
  EXPECT_THAT(reason({.nodes = {node("Tile", {"x", "repeats"})}, .constants = {{"repeats", {2}}}}),
              HasSubstr("expected one integer per dim: 2"));
  EXPECT_THAT(reason({.nodes = {node("Tile", {"x", "repeats"})}, .constants = {{"repeats", {2, -1}}}}),
              HasSubstr("a number of repeats is -1"));
}

TEST(OnnxCompute, AProductByAOneHotTensorIsALookUp) {
  // x is {{0, 1, 2}, {3, 4, 5}}: as indices of two rows, counted from the end if negative.
  const Model model{.nodes = {node("OneHot", {"x", "s_2", "values"}, {"h"}), node("MatMul", {"h", "x"}, {"y"})},
                    .constants = {{"s_2", {2}}, {"values", {0, 1}}}};
  const Program m = imported(model);
  EXPECT_THAT(m.opaques(), IsEmpty());
  EXPECT_THAT(print(m.kernel(0).op), HasSubstr("strew1.gather(operand=i64[2,3] indices=i64[2,3] result=i64[2,3,3]"));
  EXPECT_EQ(reason({.nodes = {node("OneHot", {"x", "s_2", "values"}, {"h"}), node("MatMul", {"h", "x"}, {"y"})},
                    .constants = {{"s_2", {2}}, {"values", {0, 2}}}}),
            "")
      << "2 is not 1";
}

TEST(OnnxCompute, OpaqueValuesAreTypedAsFarAsTheFileTells) {
  // The gather reads what a MatMul computes, whose type follows from those of its operands.
  Model model{
      .nodes = {node("Transpose", {"x"}, {"t"}), node("MatMul", {"x", "t"}, {"p"}), node("Gather", {"p", "zero"}, {"y"})}};
  const Program m = imported(model);
  ASSERT_EQ(m.kernels().size(), 2U);
  EXPECT_EQ(print(std::get<Gather>(*m.kernel(0).op).operand), "i64[2,2]");
  EXPECT_THAT(kernel_inputs(m, 0), ::testing::Contains(m.kernel(0).tensor(0)));
  EXPECT_EQ(value_name(m, m.kernel(0).tensor(0)), "p");
  // Other operators, of x, a matrix of two rows and three columns: p, as the gather of its rows reads it.
  const auto type_of_p = [](OnnxNode opaque, const std::string& output = "p") {
    const Program other =
        imported({.nodes = {std::move(opaque), node("Gather", {output, "zero"}, {"y"})}, .constants = {{"axes", {1}}}});
    return other.kernels().size() == 2 ? print(std::get<Gather>(*other.kernel(0).op).operand) : "unknown";
  };
  const auto equation = [](const std::string& text) {
    return std::vector<ProtoWriter>{ProtoWriter().text(1, "equation").text(4, text).varint(20, 3)};
  };
  EXPECT_EQ(type_of_p(node("Einsum", {"x", "x"}, {"p"}, equation("ij, kj -> ki"))), "i64[2,2]");
  EXPECT_EQ(type_of_p(node("Einsum", {"x"}, {"p"}, equation("ba"))), "i64[3,2]") << "without an arrow, letters are sorted";
  EXPECT_EQ(type_of_p(node("Einsum", {"x"}, {"p"}, equation("...i->i..."))), "unknown");
  EXPECT_EQ(type_of_p(node("Einsum", {"x"}, {"p"}, equation("ij->k"))), "unknown");
  EXPECT_EQ(type_of_p(node("Compress", {"x", "zero"}, {"p"})), "i64[?]");
  EXPECT_EQ(type_of_p(node("Compress", {"x", "zero"}, {"p"}, {onnx_int("axis", 0)})), "i64[?,3]");
  EXPECT_EQ(type_of_p(node("ReverseSequence", {"x", "zero"}, {"p"})), "i64[2,3]");
  EXPECT_EQ(type_of_p(node("ReduceMean", {"x", "axes"}, {"p"})), "i64[2,1]");
  EXPECT_EQ(type_of_p(node("ReduceL2", {"x", "axes"}, {"p"}, {onnx_int("keepdims", 0)})), "i64[2]");
  EXPECT_EQ(type_of_p(node("ReduceMean", {"x", "zero"}, {"p"})), "unknown") << "axes that only the call knows";
  EXPECT_EQ(type_of_p(node("Conv", {"x", "x"}, {"p"})), "i64[?,?]");
  EXPECT_EQ(type_of_p(node("LSTM", {"x", "x", "x"}, {"all", "last"}), "last"), "i64[?,?,?]");
  // Of an operator that nobody knows, nothing follows, and the gather says so.
  model.nodes = {node("Mystery", {"x"}, {"p"}), node("Gather", {"p", "zero"}, {"y"})};
  const Program unknown = imported(model);
  ASSERT_EQ(unknown.opaques().size(), 2U);
  EXPECT_TRUE(unknown.opaque(1).indexed);
  EXPECT_THAT(unknown.opaque(1).reason, HasSubstr("whose type the file does not tell"));
}

// The gather, the product and the scatter of the same elements are one update, and the condition that the extents of indices and updates are
// equal is no reader of the updates. Without folding the result is the same.
TEST(OnnxCompute, AnUpdateOfOpenExtentsIsOneKernel) {
  OnnxModel model;
  model.opset = 18;
  model.inputs = {{"data", kFloat, {kSymbolic, 4}, true, {"N"}}, {"indices", kInt64, {kSymbolic, 1}, true, {"M"}}};
  model.outputs = {{"y", kFloat, {}, false}};
  model.initializers = {{"two", kFloat, {}, std::string("\0\0\0\x40", 4)}};
  model.nodes = {node("GatherElements", {"data", "indices"}, {"g"}, {onnx_int("axis", 1)}), node("Mul", {"g", "two"}, {"u"}),
                 node("ScatterElements", {"data", "indices", "u"}, {"y"}, {onnx_int("axis", 1)})};
  for (const bool fold : {false, true}) {
    ImportOptions options;
    options.fuse = fold;
    const Expected<Program> program = import_bytes(model.bytes(), "m.onnx", options);
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(program->kernels().size(), fold ? 1U : 2U);
    std::vector<std::unique_ptr<Tensor>> inputs;
    inputs.push_back(std::make_unique<Tensor>(std::move(*make_tensor(DType::f32, {3, 4}))));
    inputs.push_back(std::make_unique<Tensor>(std::move(*make_tensor(DType::i64, {2, 1}))));
    for (int64_t i = 0; i < 12; ++i) reinterpret_cast<float*>(inputs[0]->data.data())[i] = static_cast<float>(i);
    for (int64_t i = 0; i < 2; ++i) reinterpret_cast<int64_t*>(inputs[1]->data.data())[i] = 3 - i;
    const Expected<std::vector<Tensor>> out = run_program(Runtime::process(), *program, std::move(inputs), {});
    ASSERT_TRUE(out.ok()) << out.status().message();
    const auto* y = reinterpret_cast<const float*>((*out)[0].data.data());
    EXPECT_THAT(std::vector<float>(y, y + 12), ElementsAre(0, 1, 2, 6, 4, 5, 12, 7, 8, 9, 10, 11)) << fold;
  }
}

// The results of a control flow node are found without a search: 60,000 nodes take as long each as a few do.
TEST(OnnxCompute, ManyControlFlowNodesTakeLinearTime) {
  OnnxModel model = Model{}.onnx();
  model.outputs = {{"gathered", kInt64, {}, false}};
  model.inputs.push_back({"condition", kBool, {}});
  for (int i = 0; i < 60'000; ++i) model.nodes.push_back({"If", "", "", {"condition"}, {"i" + std::to_string(i)}, {}});
  const std::clock_t start = std::clock();
  const Expected<Program> m = onnx::import_model(model.bytes(), "m.onnx", {});
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10);
  ASSERT_TRUE(m.ok()) << m.status().message();
  EXPECT_EQ(m->opaques().size(), 60'000U);
}

// An input without a rank refuses the kernels that read it, and no other.
TEST(OnnxCompute, InputsWithoutATypeAreOpaque) {
  OnnxModel model = Model{.nodes = {node("If", {"condition"}), node("Gather", {"condition", "zero"}, {"z"})}}.onnx();
  model.inputs.push_back({"condition", kInt64, {}, false});
  const Expected<Program> m = onnx::import_model(model.bytes(), "m.onnx", {});
  ASSERT_TRUE(m.ok()) << m.status().message();
  EXPECT_EQ(m->kernels().size(), 1U);
  ASSERT_EQ(m->opaques().size(), 3U);
  EXPECT_THAT(m->opaque(0).reason, HasSubstr("input condition: it has no shape"));
  EXPECT_EQ(m->opaque(1).operation, "If");
  EXPECT_THAT(m->opaque(2).reason, HasSubstr("whose type the file does not tell"));
}

}  // namespace
}  // namespace strew::testing
