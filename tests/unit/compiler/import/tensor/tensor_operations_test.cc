// Every operation of tensor, linalg, arith and math that has a handler has an example that is read, with numbers that are known otherwise, and
// one that is a boundary, with the reason.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <set>

#include "base/module.h"
#include "base/number.h"
#include "compiler/import/mlir_module.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "tests/support/fuzz_seed.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

using testing::HasSubstr;

// --- the values that examples read: tensors of four elements

struct Input {
  char name;
  const char* element;
  DType dtype;
  std::vector<double> values;
};
const std::vector<Input>& inputs() {
  static const std::vector<Input> list{{'f', "f32", DType::f32, {1.5, -2, 0.25, 4}}, {'g', "f32", DType::f32, {2, 0.5, -1, 4}},
                                       {'q', "f32", DType::f32, {1, 4, 9, 0.25}},    {'i', "i32", DType::i32, {6, -3, 0, 12}},
                                       {'j', "i32", DType::i32, {4, 5, -1, 3}},      {'h', "i32", DType::i32, {1, 0, 2, 3}},
                                       {'p', "i1", DType::boolean, {1, 0, 1, 1}}};
  return list;
}
const Input& input(char name) {
  for (const Input& each : inputs())
    if (each.name == name) return each;
  ADD_FAILURE() << name;
  return inputs()[0];
}
std::string tensor(const std::string& element) { return "tensor<4x" + element + ">"; }

/// @main with `body`, which returns the elements of `value`, of that element type, in the opposite order: strew runs no file without a gather.
std::string module_of(const std::string& body, const std::string& value, const std::string& element) {
  std::string arguments;
  for (const Input& each : inputs()) arguments += "%" + std::string(1, each.name) + ": " + tensor(each.element) + ", ";
  return "func.func @main(" + arguments + "%n: index, %v: vector<4xf32>, %w: vector<4xi32>, %b: vector<4xi1>) -> " +
         tensor(element) + " {\n  %back = arith.constant dense<[[3], [2], [1], [0]]> : tensor<4x1xi32>\n" + body +
         "\n  %result = tensor.gather " + value + "[%back] gather_dims([0]) : (" + tensor(element) + ", tensor<4x1xi32>) -> " +
         tensor(element) + "\n  return %result : " + tensor(element) + "\n}\n";
}
Expected<Program> import_body(const std::string& body, const std::string& value, const std::string& element) {
  return import_mlir_text(module_of(body, value, element));
}

/// The elements of `%y`, which `body` defines.
std::vector<double> run(const std::string& body, const std::string& element) {
  const Expected<Program> imported = import_body(body, "%y", element);
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  if (!imported.ok()) return {};
  for (const Opaque& opaque : imported->opaques())
    if (opaque.operation != "func.func") ADD_FAILURE() << opaque.location << ": " << opaque.reason;
  std::vector<std::unique_ptr<Tensor>> given;
  for (const Input& each : inputs()) {
    given.push_back(std::make_unique<Tensor>(make_tensor(each.dtype, {4}).value()));
    for (int64_t e = 0; e < 4; ++e)
      store_element(each.dtype, given.back()->data.data(), e,
                    Scalar{each.dtype, {encode(each.dtype, each.values[static_cast<size_t>(e)]), 0}});
  }
  given.push_back(std::make_unique<Tensor>(make_tensor(DType::i64, {}).value()));
  static Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  const auto out = run_program(runtime, *imported, std::move(given), options);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  const Tensor& y = (*out)[0];
  std::vector<double> values;
  for (int64_t e = y.elements(); e-- > 0;) values.push_back(decode(y.dtype, load_element(y.dtype, y.data.data(), e).bits[0]));
  return values;
}

/// Why `operation`, which `body` holds, is not run; "read" if it is.
std::string refusal(const std::string& operation, const std::string& body) {
  const Expected<Program> imported = import_body(body, "%f", "f32");
  if (!imported.ok()) return "the file is refused: " + imported.status().message();
  for (const Opaque& opaque : imported->opaques())
    if (opaque.operation == operation) return opaque.reason;
  return "read";
}

// --- elementwise operations

using Function = double (*)(double a, double b, double c);
struct Elementwise {
  std::string name;
  std::string operands;  ///< names of inputs
  std::string result;    ///< element type
  Function function;
  bool converts = false;  ///< the text names both types
  std::string predicate = {};
};

int32_t int_of(double value) { return static_cast<int32_t>(value); }
uint32_t word_of(double value) { return static_cast<uint32_t>(int_of(value)); }
double number(int64_t value) { return static_cast<double>(value); }
double signed_of(uint32_t value) { return static_cast<int32_t>(value); }

std::vector<Elementwise> on_floats() {
  return {
      {"arith.addf", "fg", "f32", [](double a, double b, double) { return a + b; }},
      {"arith.subf", "fg", "f32", [](double a, double b, double) { return a - b; }},
      {"arith.mulf", "fg", "f32", [](double a, double b, double) { return a * b; }},
      {"arith.divf", "fg", "f32", [](double a, double b, double) { return a / b; }},
      {"arith.remf", "fg", "f32", [](double a, double b, double) { return std::fmod(a, b); }},
      {"arith.maximumf", "fg", "f32", [](double a, double b, double) { return std::max(a, b); }},
      {"arith.minimumf", "fg", "f32", [](double a, double b, double) { return std::min(a, b); }},
      {"arith.maxnumf", "fg", "f32", [](double a, double b, double) { return std::max(a, b); }},
      {"arith.minnumf", "fg", "f32", [](double a, double b, double) { return std::min(a, b); }},
      {"arith.negf", "f", "f32", [](double a, double, double) { return -a; }},
      {"arith.select", "pfg", "f32", [](double a, double b, double c) { return a != 0 ? b : c; }},
      {"arith.cmpf", "fg", "i1", [](double a, double b, double) { return a < b ? 1.0 : 0.0; }, false, "olt, "},
      {"math.absf", "f", "f32", [](double a, double, double) { return std::abs(a); }},
      {"math.atan2", "fg", "f32", [](double a, double b, double) { return std::atan2(a, b); }},
      {"math.cbrt", "f", "f32", [](double a, double, double) { return std::cbrt(a); }},
      {"math.ceil", "f", "f32", [](double a, double, double) { return std::ceil(a); }},
      {"math.cos", "f", "f32", [](double a, double, double) { return std::cos(a); }},
      {"math.erf", "f", "f32", [](double a, double, double) { return std::erf(a); }},
      {"math.exp", "f", "f32", [](double a, double, double) { return std::exp(a); }},
      {"math.exp2", "f", "f32", [](double a, double, double) { return std::exp2(a); }},
      {"math.expm1", "f", "f32", [](double a, double, double) { return std::expm1(a); }},
      {"math.fma", "fgq", "f32", [](double a, double b, double c) { return std::fma(a, b, c); }},
      {"math.floor", "f", "f32", [](double a, double, double) { return std::floor(a); }},
      {"math.log", "q", "f32", [](double a, double, double) { return std::log(a); }},
      {"math.log1p", "q", "f32", [](double a, double, double) { return std::log1p(a); }},
      {"math.log2", "q", "f32", [](double a, double, double) { return std::log2(a); }},
      {"math.powf", "qg", "f32", [](double a, double b, double) { return std::pow(a, b); }},
      {"math.round", "f", "f32", [](double a, double, double) { return std::round(a); }},
      {"math.roundeven", "f", "f32", [](double a, double, double) { return std::nearbyint(a); }},
      {"math.rsqrt", "q", "f32", [](double a, double, double) { return 1 / std::sqrt(a); }},
      {"math.sin", "f", "f32", [](double a, double, double) { return std::sin(a); }},
      {"math.sqrt", "q", "f32", [](double a, double, double) { return std::sqrt(a); }},
      {"math.tan", "f", "f32", [](double a, double, double) { return std::tan(a); }},
      {"math.tanh", "f", "f32", [](double a, double, double) { return std::tanh(a); }},
      {"math.trunc", "f", "f32", [](double a, double, double) { return std::trunc(a); }},
  };
}

std::vector<Elementwise> on_integers() {
  return {
      {"arith.addi", "ij", "i32", [](double a, double b, double) { return a + b; }},
      {"arith.subi", "ij", "i32", [](double a, double b, double) { return a - b; }},
      {"arith.muli", "ij", "i32", [](double a, double b, double) { return a * b; }},
      {"arith.divsi", "ij", "i32", [](double a, double b, double) { return std::trunc(a / b); }},
      {"arith.divui", "ij", "i32", [](double a, double b, double) { return signed_of(word_of(a) / word_of(b)); }},
      {"arith.remsi", "ij", "i32", [](double a, double b, double) { return std::fmod(a, b); }},
      {"arith.remui", "ij", "i32", [](double a, double b, double) { return signed_of(word_of(a) % word_of(b)); }},
      {"arith.maxsi", "ij", "i32", [](double a, double b, double) { return std::max(a, b); }},
      {"arith.minsi", "ij", "i32", [](double a, double b, double) { return std::min(a, b); }},
      {"arith.maxui", "ij", "i32", [](double a, double b, double) { return signed_of(std::max(word_of(a), word_of(b))); }},
      {"arith.minui", "ij", "i32", [](double a, double b, double) { return signed_of(std::min(word_of(a), word_of(b))); }},
      {"arith.andi", "ij", "i32", [](double a, double b, double) { return number(int_of(a) & int_of(b)); }},
      {"arith.ori", "ij", "i32", [](double a, double b, double) { return number(int_of(a) | int_of(b)); }},
      {"arith.xori", "ij", "i32", [](double a, double b, double) { return number(int_of(a) ^ int_of(b)); }},
      {"arith.shli", "ih", "i32", [](double a, double b, double) { return signed_of(word_of(a) << word_of(b)); }},
      {"arith.shrsi", "ih", "i32", [](double a, double b, double) { return std::floor(a / std::exp2(b)); }},
      {"arith.shrui", "ih", "i32", [](double a, double b, double) { return signed_of(word_of(a) >> word_of(b)); }},
      {"arith.cmpi", "ij", "i1", [](double a, double b, double) { return word_of(a) < word_of(b) ? 1.0 : 0.0; }, false, "ult, "},
      {"math.absi", "i", "i32", [](double a, double, double) { return std::abs(a); }},
  };
}

std::vector<Elementwise> conversions() {
  constexpr bool kConverts = true;
  const Function same = [](double a, double, double) { return a; };
  return {
      {"arith.bitcast", "f", "i32",
       [](double a, double, double) { return number(std::bit_cast<int32_t>(static_cast<float>(a))); }, kConverts},
      {"arith.extf", "f", "f64", same, kConverts},
      {"arith.truncf", "f", "bf16", same, kConverts},
      {"arith.extsi", "i", "i64", same, kConverts},
      {"arith.trunci", "i", "i8", same, kConverts},
      {"arith.sitofp", "i", "f32", same, kConverts},
      {"arith.fptosi", "f", "i32", [](double a, double, double) { return std::trunc(a); }, kConverts},
      {"arith.index_cast", "i", "index", same, kConverts},
      {"arith.extui", "i", "i64", [](double a, double, double) { return number(word_of(a)); }, kConverts},
      {"arith.uitofp", "i", "f64", [](double a, double, double) { return number(word_of(a)); }, kConverts},
      {"arith.index_castui", "i", "index", [](double a, double, double) { return number(word_of(a)); }, kConverts},
      {"arith.fptoui", "q", "i32", [](double a, double, double) { return std::trunc(a); }, kConverts},
  };
}

std::vector<Elementwise> elementwise() {
  std::vector<Elementwise> out = on_floats();
  for (const auto& more : {on_integers(), conversions()}) out.insert(out.end(), more.begin(), more.end());
  return out;
}

/// `%y = NAME %a, %b : TYPE` on the inputs, or on vectors, which strew does not read.
std::string text_of(const Elementwise& row, bool on_vectors) {
  const auto type = [&](const std::string& element) { return (on_vectors ? "vector<4x" : "tensor<4x") + element + ">"; };
  std::string operands;
  for (const char name : row.operands) {
    const std::string element = input(name).element;
    const char vector = element == "f32" ? 'v' : element == "i1" ? 'b' : 'w';
    operands += (operands.empty() ? "%" : ", %") + std::string(1, on_vectors ? vector : name);
  }
  const std::string from = type(input(row.operands[0]).element), to = type(row.result);
  const std::string types = row.converts ? from + " to " + to : row.name == "arith.select" ? from + ", " + to : from;
  return "  %y = " + row.name + " " + row.predicate + operands + " : " + types;
}

TEST(TensorOperations, ElementwiseOnesCompute) {
  for (const Elementwise& row : elementwise()) {
    SCOPED_TRACE(row.name);
    const std::vector<double> result = run(text_of(row, false), row.result);
    ASSERT_EQ(result.size(), 4U);
    for (size_t e = 0; e < 4; ++e) {
      double values[3] = {};
      for (size_t i = 0; i < row.operands.size(); ++i) values[i] = input(row.operands[i]).values[e];
      EXPECT_FLOAT_EQ(static_cast<float>(result[e]), static_cast<float>(row.function(values[0], values[1], values[2])));
    }
  }
}

TEST(TensorOperations, ElementwiseOnesOnVectorsAreBoundaries) {
  for (const Elementwise& row : elementwise())
    EXPECT_THAT(refusal(row.name, text_of(row, true)), HasSubstr("expected a ranked tensor")) << row.name;
}

// --- the others

struct Example {
  std::string operation;
  std::string body;  ///< defines %y, of four f32
  std::vector<double> expected;
  std::string refused, reason;
};

std::vector<Example> kernels_and_constants() {
  return {
      {"tensor.gather",
       "  %y = tensor.gather %f[%back] gather_dims([0]) : (tensor<4xf32>, tensor<4x1xi32>) -> tensor<4xf32>",
       {4, 0.25, -2, 1.5},
       "  %y = tensor.gather %f[%back] gather_dims([0]) : (tensor<4xf32>, tensor<4x1xi32>) -> tensor<5xf32>",
       "result type mismatch: expected 'tensor<4x1xf32>'"},
      {"tensor.scatter",
       "  %y = tensor.scatter %q into %f[%back] scatter_dims([0]) unique : (tensor<4xf32>, tensor<4xf32>, tensor<4x1xi32>) -> "
       "tensor<4xf32>",
       {0.25, 9, 4, 1},
       "  %y = tensor.scatter %q into %f[%back] scatter_dims([0]) : (tensor<4xf32>, tensor<4xf32>, tensor<4x1xi32>) -> "
       "tensor<4xf32>",
       "requires 'unique'"},
      {"arith.constant",
       "  %y = arith.constant dense<[1.0, 2.0, 3.0, 5.0]> : tensor<4xf32>",
       {1, 2, 3, 5},
       "  %y = arith.constant dense<[1.0, 2.0, 3.0, 5.0]> : vector<4xf32>",
       "vector<4xf32>"},
      {"tensor.cast",
       "  %o = tensor.cast %f : tensor<4xf32> to tensor<?xf32>\n  %y = tensor.cast %o : tensor<?xf32> to tensor<4xf32>",
       {1.5, -2, 0.25, 4},
       "  %y = tensor.cast %f : tensor<4xf32> to tensor<*xf32>",
       "tensor<*xf32>"},
      {"tensor.dim",
       "  %zero = arith.constant 0 : index\n  %d = tensor.dim %f, %zero : tensor<4xf32>\n  %i32 = arith.index_cast %d : index to "
       "i32\n"
       "  %s = arith.sitofp %i32 : i32 to f32\n  %y = tensor.splat %s : tensor<4xf32>",
       {4, 4, 4, 4},
       "  %y = tensor.dim %f, %n : tensor<4xf32>",
       "expected a constant inside the rank"},
  };
}

std::vector<Example> movement() {
  return {
      {"tensor.reshape",
       "  %s = arith.constant dense<[2, 2]> : tensor<2xi64>\n  %o = tensor.reshape %f(%s) : (tensor<4xf32>, tensor<2xi64>) -> "
       "tensor<2x2xf32>\n  %y = tensor.collapse_shape %o [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>",
       {1.5, -2, 0.25, 4},
       "  %s = arith.constant dense<[2, 2]> : tensor<2xi64>\n  %y = tensor.reshape %f(%s) : (tensor<4xf32>, tensor<2xi64>) -> "
       "tensor<?x?xf32>",
       "the shape leaves several dims open"},
      {"tensor.expand_shape",
       "  %o = tensor.expand_shape %f [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>\n"
       "  %y = tensor.extract_slice %o[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> to tensor<4xf32>",
       {1.5, -2, 0.25, 4},
       "  %y = tensor.expand_shape %f [[0, 1]] output_shape [2, 3] : tensor<4xf32> into tensor<2x3xf32>",
       "expected dimension 0 of collapsed type to be static value of 6"},
      {"tensor.collapse_shape",
       "  %o = tensor.expand_shape %f [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>\n"
       "  %y = tensor.collapse_shape %o [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>",
       {1.5, -2, 0.25, 4},
       "  %y = tensor.collapse_shape %f [[0]] : tensor<4xf32> into tensor<3xf32>",
       "expected dimension 0 of collapsed type to be static value of 4"},
      {"tensor.extract_slice",
       "  %o = tensor.concat dim(0) %f, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>\n"
       "  %y = tensor.extract_slice %o[1] [4] [2] : tensor<8xf32> to tensor<4xf32>",
       {-2, 4, 4, 0.25},
       "  %y = tensor.extract_slice %f[%n] [2] [1] : tensor<4xf32> to tensor<2xf32>",
       "known at the call only"},
      {"tensor.insert_slice",
       "  %o = arith.constant dense<[7.0, 8.0]> : tensor<2xf32>\n  %y = tensor.insert_slice %o into %f[1] [2] [1] : "
       "tensor<2xf32> into "
       "tensor<4xf32>",
       {1.5, 7, 8, 4},
       "  %y = tensor.insert_slice %q into %f[1] [4] [1] : tensor<4xf32> into tensor<4xf32>",
       "slice along dimension 0 runs out-of-bounds: 4 >= 4"},
      {"tensor.concat",
       "  %o = arith.constant dense<[7.0, 8.0]> : tensor<2xf32>\n  %y = tensor.concat dim(0) %o, %o : (tensor<2xf32>, "
       "tensor<2xf32>) -> "
       "tensor<4xf32>",
       {7, 8, 7, 8},
       "  %y = tensor.concat dim(0) %f, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<7xf32>",
       "does not match inferred shape 'tensor<8xf32>'"},
      {"tensor.from_elements",
       "  %s = arith.constant 2.5 : f32\n  %o = arith.negf %s : f32\n  %y = tensor.from_elements %s, %o, %o, %s : tensor<4xf32>",
       {2.5, -2.5, -2.5, 2.5},
       "  %s = arith.constant 2.5 : f32\n  %y = tensor.from_elements %s, %s : tensor<4xf32>",
       "2 elements, expected as many as the result has"},
      {"tensor.splat",
       "  %s = arith.constant 2.5 : f32\n  %y = tensor.splat %s : tensor<4xf32>",
       {2.5, 2.5, 2.5, 2.5},
       "  %s = arith.constant 2.5 : f32\n  %y = tensor.splat %s[%n] : tensor<?xf32>",
       "known at the call only"},
      {"linalg.fill",
       "  %s = arith.constant 2.5 : f32\n  %y = linalg.fill ins(%s : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>",
       {2.5, 2.5, 2.5, 2.5},
       "  %s = arith.constant 2.5 : f64\n  %y = linalg.fill ins(%s : f64) outs(%f : tensor<4xf32>) -> tensor<4xf32>",
       "f64 fills tensor<4xf32>"},
  };
}

std::vector<Example> examples() {
  std::vector<Example> out = kernels_and_constants();
  for (Example& each : movement()) out.push_back(std::move(each));
  return out;
}

TEST(TensorOperations, TheOthersCompute) {
  for (const Example& example : examples()) {
    SCOPED_TRACE(example.operation);
    EXPECT_THAT(run(example.body, "f32"), testing::ElementsAreArray(example.expected));
  }
}

TEST(TensorOperations, TheOthersAreRefusedWithTheReason) {
  for (const Example& example : examples()) {
    SCOPED_TRACE(example.operation);
    EXPECT_THAT(refusal(example.operation, example.refused), HasSubstr(example.reason));
  }
}

TEST(TensorOperations, EachHasAnExample) {
  std::multiset<std::string> shown;
  for (const Elementwise& row : elementwise()) shown.insert(row.name);
  for (const Example& example : examples()) shown.insert(example.operation);
  const auto module = open_module<MlirModule>("libstrew_import_mlir.so", "strew_import_mlir_module", "this test");
  ASSERT_TRUE(module.ok()) << module.status().message();
  const std::vector<std::string> read = (*module)->tensor_operations();
  EXPECT_EQ(shown, std::multiset<std::string>(read.begin(), read.end()));
  for (const Elementwise& row : elementwise())
    test::check_seed("stablehlo/" + row.name + ".mlir", module_of(text_of(row, false), "%y", row.result));
  for (const Example& example : examples())
    test::check_seed("stablehlo/" + example.operation + ".mlir", module_of(example.body, "%y", "f32"));
}

}  // namespace
}  // namespace strew
