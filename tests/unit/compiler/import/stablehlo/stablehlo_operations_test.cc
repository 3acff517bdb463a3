// Every operation that the StableHLO front end reads has an example that it reads, with numbers that are known otherwise, and one that it
// refuses, with the reason. docs/sources.md lists the same operations.
#include <gmock/gmock.h>

#include <bit>
#include <cctype>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "base/module.h"
#include "base/number.h"
#include "compiler/import/mlir_module.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "tests/support/fuzz_seed.h"
#include "tests/support/paths.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

using testing::HasSubstr;

std::vector<std::string> operations() {
  const auto module = open_module<MlirModule>("libstrew_import_mlir.so", "strew_import_mlir_module", "this test");
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? (*module)->stablehlo_operations() : std::vector<std::string>();
}

// --- the values that examples read

struct Input {
  char name;
  const char* element;
  DType dtype;
  std::vector<double> values;
};
/// Tensors of four elements, and %m of 2x3. %c is complex: its imaginary parts are twice its real parts.
const std::vector<Input>& inputs() {
  static const std::vector<Input> list{
      {'f', "f32", DType::f32, {1.5, -2, 0.25, 4}}, {'g', "f32", DType::f32, {2, 0.5, -1, 4}},
      {'q', "f32", DType::f32, {1, 4, 9, 0.25}},    {'i', "i32", DType::i32, {6, -3, 0, 12}},
      {'j', "i32", DType::i32, {4, 5, -1, 3}},      {'h', "i32", DType::i32, {1, 0, 2, 3}},
      {'p', "i1", DType::boolean, {1, 0, 1, 1}},    {'c', "complex<f32>", DType::complex64, {1, -3, 0, 4}},
      {'m', "f32", DType::f32, {1, 2, 3, 4, 5, 6}}};
  return list;
}
const Input& input(char name) {
  for (const Input& each : inputs())
    if (each.name == name) return each;
  ADD_FAILURE() << name;
  return inputs()[0];
}
std::string type_of(const Input& of) { return std::string(of.name == 'm' ? "tensor<2x3x" : "tensor<4x") + of.element + ">"; }

Tensor tensor_of(const Input& of) {
  Tensor tensor = make_tensor(of.dtype, of.name == 'm' ? std::vector<int64_t>{2, 3} : std::vector<int64_t>{4}).value();
  for (size_t i = 0; i < of.values.size(); ++i) {
    const bool is_complex = of.dtype == DType::complex64;
    const DType part = is_complex ? DType::f32 : of.dtype;
    const uint64_t code = encode(part, of.values[i]);
    store_element(of.dtype, tensor.data.data(), static_cast<int64_t>(i),
                  is_complex ? make_complex(of.dtype, code, encode(part, 2 * of.values[i])) : Scalar{of.dtype, {code, 0}});
  }
  return tensor;
}

// --- modules

/// @main with `body`; what it returns is a slice of `value`, of `type`, from 0 on.
std::string module_of(const std::string& body, const std::string& value, const std::string& type) {
  std::string arguments, starts, start_types, sizes;
  for (const Input& each : inputs())
    arguments += (arguments.empty() ? "%" : ", %") + std::string(1, each.name) + ": " + type_of(each);
  std::string dims = type.substr(7);
  for (size_t x; (x = dims.find('x')) != std::string::npos && std::isdigit(static_cast<unsigned char>(dims[0])) != 0;
       dims.erase(0, x + 1)) {
    sizes += (sizes.empty() ? "" : ", ") + dims.substr(0, x);
    starts += ", %zero";
    start_types += ", tensor<i32>";
  }
  return "func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %r = stablehlo.add %x, %x : "
         "tensor<4xf32>\n  return %r : tensor<4xf32>\n}\n"
         "func.func private @outside(tensor<4xf32>) -> tensor<4xf32>\n"
         "func.func @main(" +
         arguments + ") -> " + type + " {\n  %zero = stablehlo.constant dense<0> : tensor<i32>\n" + body +
         "\n  %result = stablehlo.dynamic_slice " + value + starts + ", sizes = [" + sizes + "] : (" + type + start_types +
         ") -> " + type + "\n  return %result : " + type + "\n}\n";
}
Expected<Program> import_body(const std::string& body, const std::string& value, const std::string& type) {
  return import_mlir_text(module_of(body, value, type));
}

/// The elements of `%y`, which `body` defines; the real parts of complex ones.
std::vector<double> run(const std::string& body, const std::string& type) {
  const Expected<Program> imported = import_body(body, "%y", type);
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  if (!imported.ok()) return {};
  for (const Opaque& opaque : imported->opaques()) ADD_FAILURE() << opaque.location << ": " << opaque.reason;
  static Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  std::vector<std::unique_ptr<Tensor>> given;
  for (const Input& each : inputs()) given.push_back(std::make_unique<Tensor>(tensor_of(each)));
  const auto out = run_program(runtime, *imported, std::move(given), options);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  std::vector<double> values;
  const Tensor& y = (*out)[0];
  for (int64_t i = 0; i < y.elements(); ++i)
    values.push_back(decode(part_dtype(y.dtype), real_bits(load_element(y.dtype, y.data.data(), i))));
  return values;
}

/// Why `operation`, which `body` holds, is not run; "read" if it is.
std::string refusal(const std::string& operation, const std::string& body) {
  const Expected<Program> imported = import_body(body, "%f", "tensor<4xf32>");
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
  std::string refused;  ///< operands of a type that the operation does not have
  std::string refused_result;
  std::string reason;
  std::string attributes = {};
};

constexpr char kFloats[] = "has an argument of dtype i32; expected one of: floats", kNoBool[] = "has an argument of dtype bool",
               kBits[] = "has an argument of dtype f32; expected one of: ", kOne[] = "has arguments of dtypes f32 and i32";

double number(int64_t value) { return static_cast<double>(value); }
int32_t bits_of(double value) { return std::bit_cast<int32_t>(static_cast<float>(value)); }
int32_t int_of(double value) { return static_cast<int32_t>(value); }
uint32_t word_of(double value) { return static_cast<uint32_t>(int_of(value)); }
std::string direction(const std::string& word) {
  return " {comparison_direction = #stablehlo<comparison_direction " + word + ">}";
}

std::vector<Elementwise> arithmetic() {
  const auto of_integers = [](const char* name, const char* operands, Function function) {
    const std::string refused = std::string(operands).size() == 1 ? "f" : "ff";
    return Elementwise{"stablehlo." + std::string(name), operands, "i32", function, refused, "f32", kBits};
  };
  return {
      {"stablehlo.add", "fg", "f32", [](double a, double b, double) { return a + b; }, "fi", "f32", kOne},
      {"stablehlo.subtract", "fg", "f32", [](double a, double b, double) { return a - b; }, "pp", "i1", kNoBool},
      {"stablehlo.multiply", "fg", "f32", [](double a, double b, double) { return a * b; }, "fi", "f32", kOne},
      {"stablehlo.divide", "fg", "f32", [](double a, double b, double) { return a / b; }, "pp", "i1", kNoBool},
      {"stablehlo.remainder", "fg", "f32", [](double a, double b, double) { return std::fmod(a, b); }, "pp", "i1", kNoBool},
      {"stablehlo.minimum", "fg", "f32", [](double a, double b, double) { return std::min(a, b); }, "fi", "f32", kOne},
      {"stablehlo.maximum", "fg", "f32", [](double a, double b, double) { return std::max(a, b); }, "fi", "f32", kOne},
      {"stablehlo.power", "qg", "f32", [](double a, double b, double) { return std::pow(a, b); }, "ij", "i32", kFloats},
      {"stablehlo.atan2", "fg", "f32", [](double a, double b, double) { return std::atan2(a, b); }, "ij", "i32", kFloats},
      of_integers("and", "ij", [](double a, double b, double) { return number(int_of(a) & int_of(b)); }),
      of_integers("or", "ij", [](double a, double b, double) { return number(int_of(a) | int_of(b)); }),
      of_integers("xor", "ij", [](double a, double b, double) { return number(int_of(a) ^ int_of(b)); }),
      of_integers("not", "i", [](double a, double, double) { return number(~int_of(a)); }),
      of_integers("shift_left", "ih",
                  [](double a, double b, double) { return number(static_cast<int32_t>(word_of(a) << word_of(b))); }),
      of_integers("shift_right_logical", "ih",
                  [](double a, double b, double) { return number(static_cast<int32_t>(word_of(a) >> word_of(b))); }),
      of_integers("shift_right_arithmetic", "ih", [](double a, double b, double) { return std::floor(a / std::exp2(b)); }),
      of_integers("popcnt", "i", [](double a, double, double) { return number(std::popcount(word_of(a))); }),
      of_integers("count_leading_zeros", "i", [](double a, double, double) { return number(std::countl_zero(word_of(a))); }),
      {"stablehlo.negate", "f", "f32", [](double a, double, double) { return -a; }, "p", "i1", kNoBool},
      {"stablehlo.abs", "f", "f32", [](double a, double, double) { return std::abs(a); }, "p", "i1", kNoBool},
      {"stablehlo.sign", "i", "i32", [](double a, double, double) { return number((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0)); }, "p",
       "i1", kNoBool},
  };
}

std::vector<Elementwise> functions_of_floats() {
  const auto of_floats = [](const char* name, Function function, const char* operands = "f") {
    return Elementwise{"stablehlo." + std::string(name), operands, "f32", function, "i", "i32", kFloats};
  };
  return {
      of_floats("floor", [](double a, double, double) { return std::floor(a); }),
      of_floats("ceil", [](double a, double, double) { return std::ceil(a); }),
      of_floats("round_nearest_even", [](double a, double, double) { return std::nearbyint(a); }),
      of_floats("round_nearest_afz", [](double a, double, double) { return std::round(a); }),
      of_floats(
          "sqrt", [](double a, double, double) { return std::sqrt(a); }, "q"),
      of_floats(
          "rsqrt", [](double a, double, double) { return 1 / std::sqrt(a); }, "q"),
      of_floats("cbrt", [](double a, double, double) { return std::cbrt(a); }),
      of_floats("exponential", [](double a, double, double) { return std::exp(a); }),
      of_floats("exponential_minus_one", [](double a, double, double) { return std::expm1(a); }),
      of_floats(
          "log", [](double a, double, double) { return std::log(a); }, "q"),
      of_floats(
          "log_plus_one", [](double a, double, double) { return std::log1p(a); }, "q"),
      of_floats("tanh", [](double a, double, double) { return std::tanh(a); }),
      of_floats("logistic", [](double a, double, double) { return 1 / (1 + std::exp(-a)); }),
      of_floats("sine", [](double a, double, double) { return std::sin(a); }),
      of_floats("cosine", [](double a, double, double) { return std::cos(a); }),
      of_floats("tan", [](double a, double, double) { return std::tan(a); }),
      {"chlo.erf", "f", "f32", [](double a, double, double) { return std::erf(a); }, "i", "i32", kFloats},
  };
}

std::vector<Elementwise> conversions_and_comparisons() {
  return {
      {"stablehlo.real", "c", "f32", [](double a, double, double) { return a; }, "f", "f32", "expected one of: complex"},
      {"stablehlo.imag", "c", "f32", [](double a, double, double) { return 2 * a; }, "f", "f32", "expected one of: complex"},
      {"stablehlo.complex", "fg", "complex<f32>", [](double a, double, double) { return a; }, "ij", "complex<f32>", kFloats},
      {"stablehlo.is_finite", "f", "i1", [](double, double, double) { return 1.0; }, "i", "i1", kFloats},
      {"stablehlo.convert", "f", "i32", [](double a, double, double) { return std::trunc(a); }, "c", "f32",
       "which does not convert"},
      {"stablehlo.bitcast_convert", "f", "i32", [](double a, double, double) { return number(bits_of(a)); }, "f", "i1",
       "expected an integer or float dtype of the same width"},
      {"stablehlo.select", "pfg", "f32", [](double a, double b, double c) { return a != 0 ? b : c; }, "ifg", "f32",
       "chooses by i32; expected bool"},
      {"stablehlo.clamp", "gfq", "f32", [](double low, double x, double high) { return std::min(std::max(x, low), high); }, "gif",
       "f32", "has arguments of dtypes i32 and f32"},
      {"stablehlo.compare", "fg", "i1", [](double a, double b, double) { return number(a == b); }, "fi", "i1", kOne,
       direction("EQ")},
      {"stablehlo.compare", "fg", "i1", [](double a, double b, double) { return number(a != b); }, "fg", "f32",
       "the result is f32, expected bool", direction("NE")},
      {"stablehlo.compare", "ij", "i1", [](double a, double b, double) { return number(a < b); }, "cc", "i1",
       "has an argument of dtype complex64", direction("LT")},
      {"stablehlo.compare", "fg", "i1", [](double a, double b, double) { return number(a <= b); }, "fi", "i1", kOne,
       direction("LE")},
      {"stablehlo.compare", "fg", "i1", [](double a, double b, double) { return number(a > b); }, "fi", "i1", kOne,
       direction("GT")},
      {"stablehlo.compare", "fg", "i1", [](double a, double b, double) { return number(a >= b); }, "fi", "i1", kOne,
       direction("GE")},
  };
}

std::vector<Elementwise> elementwise() {
  std::vector<Elementwise> out = arithmetic();
  for (const auto& more : {functions_of_floats(), conversions_and_comparisons()}) out.insert(out.end(), more.begin(), more.end());
  return out;
}

/// `NAME = "OPERATION"(operands) attributes : types`, in generic form.
std::string statement(const std::string& result, const Elementwise& row, const std::string& operands, const std::string& type) {
  std::string values, types;
  for (const char each : operands) {
    values += (values.empty() ? "%" : ", %") + std::string(1, each);
    types += (types.empty() ? "" : ", ") + type_of(input(each));
  }
  return "  " + result + " = \"" + row.name + "\"(" + values + ")" + row.attributes + " : (" + types + ") -> " + type + "\n";
}

TEST(StablehloOperations, ElementwiseOnesCompute) {
  for (const Elementwise& row : elementwise()) {
    SCOPED_TRACE(row.name + row.attributes);
    const std::string type = "tensor<4x" + row.result + ">";
    const std::vector<double> got = run(statement("%y", row, row.operands, type), type);
    ASSERT_EQ(got.size(), 4U);
    const auto value = [&](size_t operand, size_t i) {
      return operand < row.operands.size() ? input(row.operands[operand]).values[i] : 0.0;
    };
    for (size_t i = 0; i < 4; ++i) {
      const double expected = row.function(value(0, i), value(1, i), value(2, i));
      EXPECT_NEAR(got[i], expected, 2e-6 * std::abs(expected)) << "element " << i;
    }
  }
}

TEST(StablehloOperations, ElementwiseOnesAreRefusedWithTheReason) {
  for (const Elementwise& row : elementwise()) {
    SCOPED_TRACE(row.name + row.attributes);
    const std::string type = "tensor<4x" + row.result + ">", other = "tensor<3x" + row.result + ">";
    EXPECT_THAT(refusal(row.name, statement("%k", row, row.refused, "tensor<4x" + row.refused_result + ">")),
                HasSubstr(row.reason));
    EXPECT_THAT(
        refusal(row.name, statement("%k", row, row.operands.substr(1), type)),
        HasSubstr(std::to_string(row.operands.size() - 1) + " operands, expected " + std::to_string(row.operands.size())));
    EXPECT_THAT(refusal(row.name, statement("%k", row, row.operands, other)), HasSubstr("shape of operand 0 [4], expected [3]"));
  }
  EXPECT_THAT(
      refusal("stablehlo.compare", "  %k = stablehlo.compare XX, %f, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\n"),
      HasSubstr("comparison_direction 'XX'"));
  EXPECT_THAT(refusal("stablehlo.compare",
                      "  %k = stablehlo.compare LT, %f, %g, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\n"),
              HasSubstr("compare_type TOTALORDER on f32, expected FLOAT"));
  EXPECT_THAT(
      refusal("stablehlo.tanh", "  %k = \"stablehlo.tanh\"(%f) <{accuracy = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>\n"),
      HasSubstr("attribute 'accuracy' is unknown"));
}

// --- the others

struct Example {
  std::string operation;
  std::string body;  ///< defines %y
  std::string type;  ///< of %y
  std::vector<double> expected;
  std::string refused, reason;
};

std::string scatter(const std::string& dims, const std::string& region) {
  return "  %u = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n  %n = stablehlo.constant dense<[[3], [0]]> : "
         "tensor<2x1xi32>\n"
         "  %y = \"stablehlo.scatter\"(%f, %n, %u) <{scatter_dimension_numbers = #stablehlo.scatter<" +
         dims + ">}> ({\n" + region + "\n  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>\n";
}
constexpr char kAdd[] =
    "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %t = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return %t : "
    "tensor<f32>";
constexpr char kScatterDims[] = "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1";

std::string gather(const std::string& slice_sizes) {
  return "  %n = stablehlo.constant dense<[[1], [0]]> : tensor<2x1xi32>\n  %y = \"stablehlo.gather\"(%m, %n) <{dimension_numbers "
         "= "
         "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
         "slice_sizes "
         "= array<i64: " +
         slice_sizes + ">}> : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>\n";
}

std::string dynamic_gather(const std::string& sizes, const std::string& type) {
  return "  %n = stablehlo.constant dense<[1, 1]> : tensor<2xi32>\n  %o = stablehlo.constant dense<" + sizes + "> : " + type +
         "\n  %y = \"stablehlo.dynamic_gather\"(%m, %n, %o) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], "
         "collapsed_slice_dims = [0], start_index_map = [0, 1]>}> : (tensor<2x3xf32>, tensor<2xi32>, " +
         type + ") -> tensor<2xf32>\n";
}

/// A product by a tensor that is one-hot for 1, -2, 0 and 4, of %m in this element type.
std::string product(const std::string& dtype) {
  const std::string hot = "tensor<4x2x" + dtype + ">", table = "tensor<2x3x" + dtype + ">";
  return "  %ids = stablehlo.convert %f : (tensor<4xf32>) -> tensor<4xi32>\n"
         "  %wide = stablehlo.broadcast_in_dim %ids, dims = [0] : (tensor<4xi32>) -> tensor<4x2xi32>\n"
         "  %numbers = stablehlo.iota dim = 1 : tensor<4x2xi32>\n"
         "  %equal = stablehlo.compare EQ, %wide, %numbers, SIGNED : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>\n"
         "  %hot = stablehlo.convert %equal : (tensor<4x2xi1>) -> " +
         hot + "\n  %table = stablehlo.convert %m : (tensor<2x3xf32>) -> " + table +
         "\n  %y = stablehlo.dot_general %hot, %table, contracting_dims = [1] x [0] : (" + hot + ", " + table +
         ") -> tensor<4x3x" + dtype + ">\n";
}

std::string window(const std::string& padding) {
  return "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n  %y = \"stablehlo.reduce_window\"(%f, %z) <{window_dimensions = "
         "array<i64: 4>, padding = dense<[[" +
         padding + "]]> : tensor<1x2xi64>}> ({\n" + kAdd + "\n  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>\n";
}

std::string reduce(const std::string& op) {
  return "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n  %y = stablehlo.reduce(%m init: %z) applies stablehlo." + op +
         " across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>\n";
}

/// An operation that gives its only operand.
Example barrier(const std::string& operation) {
  const std::string head = "  %y = \"" + operation + "\"(%f) : (tensor<4xf32>) -> ";
  return {operation,          head + "tensor<4xf32>\n", "tensor<4xf32>",
          {1.5, -2, 0.25, 4}, head + "tensor<2xf32>\n", "of the operands' types"};
}

std::vector<Example> kernels_constants_and_calls() {
  return {
      {"stablehlo.scatter",
       scatter(kScatterDims, kAdd),
       "tensor<4xf32>",
       {3.5, -2, 0.25, 5},
       scatter("inserted_window_dims = [0], scatter_dims_to_operand_dims = [7], index_vector_dim = 1", kAdd),
       "scatter_dims_to_operand_dims is [7]"},
      {"stablehlo.gather", gather("1, 3"), "tensor<2x3xf32>", {4, 5, 6, 1, 2, 3}, gather("1, 4"), "slice_sizes is [1,4]"},
      {"stablehlo.dynamic_gather",
       dynamic_gather("[1, 2]", "tensor<2xi32>"),
       "tensor<2xf32>",
       {5, 6},
       dynamic_gather("[1, 2, 1]", "tensor<3xi32>"),
       "slice_sizes is tensor<3xi32>"},
      {"stablehlo.dot_general",
       product("i32"),
       "tensor<4x3xi32>",
       {4, 5, 6, 0, 0, 0, 1, 2, 3, 0, 0, 0},
       product("f32"),
       "the product is no look-up in f32"},
      {"stablehlo.dynamic_slice",
       "  %n = stablehlo.constant dense<1> : tensor<i32>\n  %y = stablehlo.dynamic_slice %f, %n, sizes = [2] : (tensor<4xf32>, "
       "tensor<i32>) -> tensor<2xf32>\n",
       "tensor<2xf32>",
       {-2, 0.25},
       "  %y = stablehlo.dynamic_slice %f, %zero, sizes = [9] : (tensor<4xf32>, tensor<i32>) -> tensor<9xf32>\n",
       "slice_sizes[0] is 9, expected 0 to 4"},
      {"stablehlo.dynamic_update_slice",
       "  %u = stablehlo.constant dense<7.0> : tensor<2xf32>\n  %y = stablehlo.dynamic_update_slice %f, %u, %zero : "
       "(tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>\n",
       "tensor<4xf32>",
       {7, 7, 0.25, 4},
       "  %y = stablehlo.dynamic_update_slice %f, %g, %zero, %zero : (tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>) -> "
       "tensor<4xf32>\n",
       "2 start indices, expected one per dim of the operand: 1"},
      {"stablehlo.constant",
       "  %y = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>\n",
       "tensor<2xf32>",
       {1, 2.5},
       "  %y = \"stablehlo.constant\"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<3xi32>\n",
       "value of type tensor<2xi32>, expected the result's type"},
      {"stablehlo.custom_call",
       "  %y = stablehlo.custom_call @Sharding(%f) {mhlo.sharding = \"x\"} : (tensor<4xf32>) -> tensor<4xf32>\n",
       "tensor<4xf32>",
       {1.5, -2, 0.25, 4},
       "  %y = stablehlo.custom_call @other(%f) : (tensor<4xf32>) -> tensor<4xf32>\n",
       "target 'other' is not read"},
      {"func.call",
       "  %y = func.call @twice(%f) : (tensor<4xf32>) -> tensor<4xf32>\n",
       "tensor<4xf32>",
       {3, -4, 0.5, 8},
       "  %y = func.call @outside(%f) : (tensor<4xf32>) -> tensor<4xf32>\n",
       "function 'outside' has no body here"},
  };
}

std::vector<Example> movement() {
  return {
      {"stablehlo.iota",
       "  %y = stablehlo.iota dim = 1 : tensor<2x3xf32>\n",
       "tensor<2x3xf32>",
       {0, 1, 2, 0, 1, 2},
       "  %y = stablehlo.iota dim = 2 : tensor<2x3xf32>\n",
       "iota_dimension is 2, expected 0 to 1"},
      {"stablehlo.broadcast_in_dim",
       "  %y = stablehlo.broadcast_in_dim %f, dims = [0] : (tensor<4xf32>) -> tensor<4x2xf32>\n",
       "tensor<4x2xf32>",
       {1.5, 1.5, -2, -2, 0.25, 0.25, 4, 4},
       "  %y = stablehlo.broadcast_in_dim %f, dims = [1] : (tensor<4xf32>) -> tensor<4x2xf32>\n",
       "operand dim 0 is 4, expected 1 or 2"},
      {"stablehlo.reshape",
       "  %y = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<6xf32>\n",
       "tensor<6xf32>",
       {1, 2, 3, 4, 5, 6},
       "  %y = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<5xf32>\n",
       "f32[2,3] has 6 elements, expected 5"},
      {"stablehlo.transpose",
       "  %y = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n",
       "tensor<3x2xf32>",
       {1, 4, 2, 5, 3, 6},
       "  %y = stablehlo.transpose %m, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n",
       "permutation holds 1"},
      {"stablehlo.slice",
       "  %y = stablehlo.slice %f [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>\n",
       "tensor<2xf32>",
       {-2, 4},
       "  %y = stablehlo.slice %f [1:5:2] : (tensor<4xf32>) -> tensor<2xf32>\n",
       "dim 0: 1:5:2, expected 0 <= start <= limit"},
      {"stablehlo.concatenate",
       "  %y = stablehlo.concatenate %f, %g, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>\n",
       "tensor<8xf32>",
       {1.5, -2, 0.25, 4, 2, 0.5, -1, 4},
       "  %y = stablehlo.concatenate %f, %g, dim = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>\n",
       "dimension is 1, expected 0 to 0"},
  };
}

std::vector<Example> reductions_and_pads() {
  return {
      {"stablehlo.reduce", reduce("add"), "tensor<2xf32>", {6, 15}, reduce("subtract"), "applies 'subtract', expected add"},
      {"stablehlo.reverse",
       "  %y = stablehlo.reverse %m, dims = [1] : tensor<2x3xf32>\n",
       "tensor<2x3xf32>",
       {3, 2, 1, 6, 5, 4},
       "  %y = stablehlo.reverse %m, dims = [2] : tensor<2x3xf32>\n",
       "dimensions holds 2"},
      {"stablehlo.pad",
       "  %z = stablehlo.constant dense<9.0> : tensor<f32>\n  %y = stablehlo.pad %f, %z, low = [1], high = [-1], interior = [1] "
       ": "
       "(tensor<4xf32>, tensor<f32>) -> tensor<7xf32>\n",
       "tensor<7xf32>",
       {9, 1.5, 9, -2, 9, 0.25, 9},
       "  %z = stablehlo.constant dense<9.0> : tensor<f32>\n  %y = stablehlo.pad %f, %z, low = [1], high = [0], interior = [-1] "
       ": "
       "(tensor<4xf32>, tensor<f32>) -> tensor<5xf32>\n",
       "interior -1"},
      {"stablehlo.reduce_window", window("3, 0"), "tensor<4xf32>", {1.5, -0.5, -0.25, 3.75}, window("2, 1"), "padding [2, 1]"},
      {"stablehlo.get_dimension_size",
       "  %d = stablehlo.get_dimension_size %m, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>\n  %y = stablehlo.reshape %d : "
       "(tensor<i32>) -> tensor<1xi32>\n",
       "tensor<1xi32>",
       {3},
       "  %y = stablehlo.get_dimension_size %m, dim = 2 : (tensor<2x3xf32>) -> tensor<i32>\n",
       "dimension is 2, expected 0 to 1"},
  };
}

std::vector<Example> dynamic_shapes_and_barriers() {
  const std::string shape = "  %n = stablehlo.constant dense<[2, 4]> : tensor<2xi32>\n";
  return {
      {"stablehlo.dynamic_broadcast_in_dim",
       shape +
           "  %y = stablehlo.dynamic_broadcast_in_dim %f, %n, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x4xf32>\n",
       "tensor<2x4xf32>",
       {1.5, -2, 0.25, 4, 1.5, -2, 0.25, 4},
       shape +
           "  %y = stablehlo.dynamic_broadcast_in_dim %f, %n, dims = [2] : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x4xf32>\n",
       "broadcast_dimensions holds 2"},
      {"stablehlo.dynamic_reshape",
       "  %n = stablehlo.constant dense<[3, 2]> : tensor<2xi32>\n  %y = stablehlo.dynamic_reshape %m, %n : (tensor<2x3xf32>, "
       "tensor<2xi32>) -> tensor<3x2xf32>\n",
       "tensor<3x2xf32>",
       {1, 2, 3, 4, 5, 6},
       shape + "  %y = stablehlo.dynamic_reshape %m, %n : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x2x2xf32>\n",
       "expected one integer per dim of the result: 3"},
      {"stablehlo.dynamic_iota",
       shape + "  %y = stablehlo.dynamic_iota %n, dim = 1 : (tensor<2xi32>) -> tensor<2x4xf32>\n",
       "tensor<2x4xf32>",
       {0, 1, 2, 3, 0, 1, 2, 3},
       shape + "  %y = stablehlo.dynamic_iota %n, dim = 2 : (tensor<2xi32>) -> tensor<2x4xf32>\n",
       "iota_dimension is 2, expected 0 to 1"},
      barrier("stablehlo.optimization_barrier"),
      barrier("sdy.sharding_constraint"),
      barrier("sdy.reshard"),
      barrier("sdy.propagation_barrier"),
  };
}

std::vector<Example> examples() {
  std::vector<Example> out = kernels_constants_and_calls();
  for (const auto& more : {movement(), reductions_and_pads(), dynamic_shapes_and_barriers()})
    out.insert(out.end(), more.begin(), more.end());
  return out;
}

TEST(StablehloOperations, TheOthersCompute) {
  for (const Example& example : examples()) {
    SCOPED_TRACE(example.operation);
    EXPECT_THAT(run(example.body, example.type), testing::ElementsAreArray(example.expected));
  }
}

TEST(StablehloOperations, TheOthersAreRefusedWithTheReason) {
  for (const Example& example : examples()) {
    SCOPED_TRACE(example.operation);
    EXPECT_THAT(refusal(example.operation, example.refused), HasSubstr(example.reason));
  }
}

TEST(StablehloOperations, EachHasAnExample) {
  std::multiset<std::string> shown;
  for (const Elementwise& row : elementwise()) shown.insert(row.name);
  for (const Example& example : examples()) shown.insert(example.operation);
  const std::vector<std::string> read = operations();
  for (const std::string& name : read) EXPECT_TRUE(shown.contains(name)) << name << " has no example here";
  const std::set<std::string> known(read.begin(), read.end());
  for (const std::string& name : shown) EXPECT_TRUE(known.contains(name)) << name << " is not read";
  EXPECT_EQ(known.size(), read.size()) << "an operation has two rows";
  for (const Elementwise& row : elementwise()) {
    const std::string type = "tensor<4x" + row.result + ">";
    test::check_seed("stablehlo/" + row.name + ".mlir", module_of(statement("%y", row, row.operands, type), "%y", type));
  }
  for (const Example& example : examples())
    test::check_seed("stablehlo/" + example.operation + ".mlir", module_of(example.body, "%y", example.type));
}

/// The operations in the first column of the table of docs/sources.md.
std::set<std::string> documented() {
  std::set<std::string> out;
  std::ifstream file(test::source_folder() / "docs/sources.md");
  bool is_here = false, is_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) is_here = line.starts_with("## StableHLO");
    if (is_here && line.starts_with("| operation |")) is_table = true;
    if (line.empty()) is_table = false;
    if (!is_table) continue;
    std::string cell = line.substr(1, line.find(" | ") - 1);
    for (size_t begin; (begin = cell.find('`')) != std::string::npos;) {
      cell.erase(0, begin + 1);
      const std::string quoted = cell.substr(0, cell.find('`')), word = quoted.substr(0, quoted.find(' '));
      cell.erase(0, cell.find('`') + 1);
      out.insert(word.find('.') == std::string::npos ? "stablehlo." + word : word);
    }
  }
  return out;
}

TEST(StablehloOperations, TheDocumentationListsThem) {
  std::string text;
  std::set<std::string> read;
  for (const std::string& name : operations()) {
    read.insert(name);
    text += (text.empty() ? "`" : ", `") + (name.starts_with("stablehlo.") ? name.substr(10) : name) + "`";
  }
  EXPECT_EQ(documented(), read) << "the list to paste is " << text;
}

}  // namespace
}  // namespace strew
