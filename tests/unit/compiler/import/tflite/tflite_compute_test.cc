// TensorFlow Lite's operators around the kernels: what each computes, on inputs and on constants, and what each refuses. Files are written by
// tests/support/tflite_writer.h and run by the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/number.h"
#include "compiler/import/tflite/tflite.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "tests/support/fuzz_seed.h"
#include "tests/support/tflite_writer.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;
using T = TfliteType;
using C = TfliteCode;
namespace schema = tflite::schema;
using Options = schema::BuiltinOptions;
using Numbers = std::vector<double>;

DType dtype_of(T type) {
  switch (type) {
    case T::FLOAT32:
      return DType::f32;
    case T::INT64:
      return DType::i64;
    case T::INT8:
      return DType::i8;
    case T::BOOL:
      return DType::boolean;
    case T::FLOAT16:
      return DType::f16;
    default:
      return DType::i32;
  }
}

std::string bytes_from(T type, const Numbers& numbers) {
  const DType dtype = dtype_of(type);
  std::string out(numbers.size() * static_cast<size_t>(bits(dtype) / 8), '\0');
  for (size_t i = 0; i < numbers.size(); ++i)
    store_element(dtype, reinterpret_cast<std::byte*>(out.data()), static_cast<int64_t>(i), Scalar::of(dtype, numbers[i]));
  return out;
}

struct In {
  T type;
  std::vector<int32_t> shape;
  Numbers numbers;
  bool constant = false;
};
struct Out {
  T type;
  std::vector<int32_t> shape;
  Numbers numbers;
};
In f(std::vector<int32_t> shape, Numbers numbers) { return {T::FLOAT32, std::move(shape), std::move(numbers)}; }
In i(std::vector<int32_t> shape, Numbers numbers) { return {T::INT32, std::move(shape), std::move(numbers)}; }
In b(std::vector<int32_t> shape, Numbers numbers) { return {T::BOOL, std::move(shape), std::move(numbers)}; }
/// A constant of i32.
In c(std::vector<int32_t> shape, Numbers numbers) { return {T::INT32, std::move(shape), std::move(numbers), true}; }

struct Row {
  C code;
  std::vector<In> inputs;
  std::vector<Out> outputs;
  std::function<void(TfliteOperator&)> options = {};
};

template <class Create>
std::function<void(TfliteOperator&)> with(Options type, Create create) {
  return [=](TfliteOperator& op) {
    op.options_type = type;
    op.options = [=](flatbuffers::FlatBufferBuilder& builder) { return create(builder).Union(); };
  };
}
std::function<void(TfliteOperator&)> activation(Options type, int8_t number) {
  return with(type, [=](auto& builder) { return schema::CreateActivationOptions(builder, number); });
}
std::function<void(TfliteOperator&)> axis_of(Options type, int axis) {
  return with(type, [=](auto& builder) { return schema::CreatePackOptions(builder, 0, axis); });
}
std::function<void(TfliteOperator&)> masks(int begin, int end, int ellipsis, int added, int shrunk, bool offset = false) {
  return with(Options::StridedSliceOptions, [=](auto& builder) {
    return schema::CreateStridedSliceOptions(builder, begin, end, ellipsis, added, shrunk, offset);
  });
}

TfliteModel model_of(const Row& row) {
  std::vector<TfliteTensor> tensors;
  for (const In& in : row.inputs)
    tensors.push_back(tflite_tensor("in", in.type, in.shape, in.constant ? bytes_from(in.type, in.numbers) : ""));
  for (const Out& out : row.outputs) tensors.push_back(tflite_tensor("out", out.type, out.shape));
  TfliteModel model = operator_model(row.code, std::move(tensors), static_cast<int>(row.outputs.size()));
  if (row.options) row.options(model.op());
  add_gather(model);
  return model;
}

std::string text_of(C code) { return schema::EnumNameBuiltinOperator(code); }

std::vector<std::unique_ptr<Tensor>> inputs_of(const Row& row) {
  std::vector<std::unique_ptr<Tensor>> out;
  std::vector<In> all = row.inputs;
  all.push_back(f({5, 3}, Numbers(15)));
  all.push_back(i({4}, Numbers(4)));
  for (const In& in : all) {
    if (in.constant) continue;
    out.push_back(
        std::make_unique<Tensor>(std::move(make_tensor(dtype_of(in.type), {in.shape.begin(), in.shape.end()}).value())));
    const std::string data = bytes_from(in.type, in.numbers);
    std::memcpy(out.back()->data.data(), data.data(), data.size());
  }
  return out;
}

/// The operators that ran and gave the numbers that were expected, each with the first model of it.
std::map<C, std::string>& that_ran() {
  static std::map<C, std::string> models;
  return models;
}

void check(const Row& row) {
  const Expected<Program> imported = tflite::import_model(model_of(row).bytes(), "m.tflite", {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  for (const Opaque& opaque : imported->opaques()) FAIL() << opaque.operation << ": " << opaque.reason;
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  const Expected<std::vector<Tensor>> results = run_program(runtime, *imported, inputs_of(row), options);
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->size(), row.outputs.size());
  for (size_t k = 0; k < results->size(); ++k) {
    const Tensor& got = (*results)[k];
    const Out& want = row.outputs[k];
    EXPECT_EQ(got.dims, std::vector<int64_t>(want.shape.begin(), want.shape.end()));
    const std::string data(reinterpret_cast<const char*>(got.data.data()), static_cast<size_t>(got.data.size()));
    EXPECT_EQ(data, bytes_from(want.type, want.numbers)) << "output " << k;
  }
  that_ran().emplace(row.code, model_of(row).bytes());
}

/// Each row twice: with its inputs, and with all of them constants of the file.
void check_all(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(text_of(row.code));
    check(row);
    Row constant = row;
    for (In& in : constant.inputs) in.constant = !in.numbers.empty();
    SCOPED_TRACE("constants");
    check(constant);
  }
}

/// The operator is opaque, and the reason contains `reason`.
void refuse(const Row& row, const std::string& reason, const std::function<void(TfliteModel&)>& damage = {}) {
  SCOPED_TRACE(text_of(row.code));
  TfliteModel model = model_of(row);
  if (damage) damage(model);
  const Expected<Program> imported = tflite::import_model(model.bytes(), "m.tflite", {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(imported->opaques().size(), 1u) << "expected: " << reason;
  EXPECT_EQ(imported->opaque(0).operation, text_of(row.code));
  EXPECT_THAT(imported->opaque(0).reason, HasSubstr(reason));
  EXPECT_EQ(imported->kernels().size(), 1u) << "the other kernel is there";
}

void arithmetic() {
  const In a = f({2, 2}, {1, -2, 3, 8}), row = f({2}, {2, 4});
  check_all({
      {C::ADD, {a, row}, {{T::FLOAT32, {2, 2}, {3, 2, 5, 12}}}},
      {C::ADD, {a, row}, {{T::FLOAT32, {2, 2}, {3, 2, 5, 6}}}, activation(Options::AddOptions, 3)},
      {C::SUB, {a, row}, {{T::FLOAT32, {2, 2}, {0, 0, 1, 4}}}, activation(Options::SubOptions, 1)},
      {C::MUL, {a, row}, {{T::FLOAT32, {2, 2}, {1, -1, 1, 1}}}, activation(Options::MulOptions, 2)},
      {C::DIV, {a, row}, {{T::FLOAT32, {2, 2}, {.5, -.5, 1.5, 2}}}, activation(Options::DivOptions, 0)},
      {C::ADD_N, {a, a, a}, {{T::FLOAT32, {2, 2}, {3, -6, 9, 24}}}},
      {C::MAXIMUM, {a, row}, {{T::FLOAT32, {2, 2}, {2, 4, 3, 8}}}},
      {C::MINIMUM, {a, row}, {{T::FLOAT32, {2, 2}, {1, -2, 2, 4}}}},
      {C::SQUARE, {a}, {{T::FLOAT32, {2, 2}, {1, 4, 9, 64}}}},
      {C::SQUARED_DIFFERENCE, {a, row}, {{T::FLOAT32, {2, 2}, {1, 36, 1, 16}}}},
      {C::NEG, {a}, {{T::FLOAT32, {2, 2}, {-1, 2, -3, -8}}}},
      {C::ABS, {a}, {{T::FLOAT32, {2, 2}, {1, 2, 3, 8}}}},
      {C::SIGN, {a}, {{T::FLOAT32, {2, 2}, {1, -1, 1, 1}}}},
      {C::RELU, {a}, {{T::FLOAT32, {2, 2}, {1, 0, 3, 8}}}},
      {C::RELU6, {a}, {{T::FLOAT32, {2, 2}, {1, 0, 3, 6}}}},
      {C::RELU_N1_TO_1, {a}, {{T::FLOAT32, {2, 2}, {1, -1, 1, 1}}}},
      {C::FLOOR_DIV, {i({4}, {7, -7, 7, -7}), i({4}, {2, 2, -2, -2})}, {{T::INT32, {4}, {3, -4, -4, 3}}}},
      {C::FLOOR_MOD, {i({4}, {7, -7, 7, -7}), i({4}, {2, 2, -2, -2})}, {{T::INT32, {4}, {1, 1, -1, -1}}}},
      {C::FLOOR_DIV, {f({2}, {7, -7}), f({}, {2})}, {{T::FLOAT32, {2}, {3, -4}}}},
      {C::FLOOR_MOD, {f({2}, {7, -7.5}), f({}, {2})}, {{T::FLOAT32, {2}, {1, .5}}}},
      {C::STABLEHLO_ADD, {a, a}, {{T::FLOAT32, {2, 2}, {2, -4, 6, 16}}}},
      {C::STABLEHLO_ABS, {a}, {{T::FLOAT32, {2, 2}, {1, 2, 3, 8}}}},
      {C::STABLEHLO_NEGATE, {a}, {{T::FLOAT32, {2, 2}, {-1, 2, -3, -8}}}},
      {C::STABLEHLO_REMAINDER, {i({2}, {7, -7}), i({2}, {4, 4})}, {{T::INT32, {2}, {3, -3}}}},
      {C::STABLEHLO_AND, {b({3}, {1, 0, 1}), b({3}, {0, 0, 1})}, {{T::BOOL, {3}, {0, 0, 1}}}},
      {C::STABLEHLO_OR, {b({3}, {1, 0, 1}), b({3}, {0, 0, 1})}, {{T::BOOL, {3}, {1, 0, 1}}}},
      {C::STABLEHLO_SELECT, {b({2}, {1, 0}), i({2}, {1, 2}), i({2}, {5, 6})}, {{T::INT32, {2}, {1, 6}}}},
      {C::STABLEHLO_CONVERT, {i({2}, {1, -2})}, {{T::FLOAT32, {2}, {1, -2}}}},
      {C::BITWISE_XOR, {i({2}, {6, 1}), i({2}, {3, 1})}, {{T::INT32, {2}, {5, 0}}}},
      {C::CEIL, {f({2}, {1.5, -1.5})}, {{T::FLOAT32, {2}, {2, -1}}}},
      {C::FLOOR, {f({2}, {1.5, -1.5})}, {{T::FLOAT32, {2}, {1, -2}}}},
      {C::ROUND, {f({3}, {2.5, 3.5, -0.75})}, {{T::FLOAT32, {3}, {2, 4, -1}}}},
      {C::SQRT, {f({2}, {4, 2.25})}, {{T::FLOAT32, {2}, {2, 1.5}}}},
      {C::RSQRT, {f({2}, {4, 1})}, {{T::FLOAT32, {2}, {0.5, 1}}}},
      {C::EXP, {f({1}, {0})}, {{T::FLOAT32, {1}, {1}}}},
      {C::LOG, {f({1}, {1})}, {{T::FLOAT32, {1}, {0}}}},
      {C::SIN, {f({1}, {0})}, {{T::FLOAT32, {1}, {0}}}},
      {C::COS, {f({1}, {0})}, {{T::FLOAT32, {1}, {1}}}},
      {C::TANH, {f({1}, {0})}, {{T::FLOAT32, {1}, {0}}}},
      {C::LOGISTIC, {f({1}, {0})}, {{T::FLOAT32, {1}, {0.5}}}},
      {C::STABLEHLO_MULTIPLY, {a, a}, {{T::FLOAT32, {2, 2}, {1, 4, 9, 64}}}},
      {C::STABLEHLO_DIVIDE, {a, a}, {{T::FLOAT32, {2, 2}, {1, 1, 1, 1}}}},
      {C::STABLEHLO_MAXIMUM, {i({2}, {1, -2}), i({2}, {0, 7})}, {{T::INT32, {2}, {1, 7}}}},
      {C::STABLEHLO_MINIMUM, {i({2}, {1, -2}), i({2}, {0, 7})}, {{T::INT32, {2}, {0, -2}}}},
      {C::STABLEHLO_SUBTRACT, {a, a}, {{T::FLOAT32, {2, 2}, {0, 0, 0, 0}}}},
  });
  refuse({C::ADD, {a, row}, {{T::FLOAT32, {2, 2}, {}}}, activation(Options::AddOptions, 4)}, "fused activation is number 4");
  refuse({C::ADD, {a, f({3}, {})}, {{T::FLOAT32, {2, 2}, {}}}}, "dims 3 and 2");
  refuse({C::ADD, {a}, {{T::FLOAT32, {2, 2}, {}}}}, "it has 1 inputs, expected 2");
  refuse({C::MUL, {a, row}, {{T::FLOAT32, {2, 2}, {}}}}, "quantized", [](TfliteModel& m) { m.tensor(0).quantized = true; });
  refuse({C::SUB, {a, row}, {{T::INT32, {2, 2}, {}}}}, "is declared as i32[2,2]");
}
TEST(TfliteCompute, Arithmetic) { arithmetic(); }

void comparisons_and_logic() {
  const In a = i({3}, {1, 2, 3}), two = i({}, {2}), yes = b({3}, {1, 0, 1}), no = b({3}, {0, 0, 1});
  check_all({
      {C::EQUAL, {a, two}, {{T::BOOL, {3}, {0, 1, 0}}}},
      {C::NOT_EQUAL, {a, two}, {{T::BOOL, {3}, {1, 0, 1}}}},
      {C::LESS, {a, two}, {{T::BOOL, {3}, {1, 0, 0}}}},
      {C::LESS_EQUAL, {a, two}, {{T::BOOL, {3}, {1, 1, 0}}}},
      {C::GREATER, {a, two}, {{T::BOOL, {3}, {0, 0, 1}}}},
      {C::GREATER_EQUAL, {a, two}, {{T::BOOL, {3}, {0, 1, 1}}}},
      {C::LOGICAL_AND, {yes, no}, {{T::BOOL, {3}, {0, 0, 1}}}},
      {C::LOGICAL_OR, {yes, no}, {{T::BOOL, {3}, {1, 0, 1}}}},
      {C::LOGICAL_NOT, {yes}, {{T::BOOL, {3}, {0, 1, 0}}}},
      {C::SELECT_V2, {yes, a, two}, {{T::INT32, {3}, {1, 2, 3}}}},
      {C::SELECT, {b({2}, {1, 0}), i({2, 2}, {1, 2, 3, 4}), i({2, 2}, {5, 6, 7, 8})}, {{T::INT32, {2, 2}, {1, 2, 7, 8}}}},
      {C::CAST, {f({3}, {1.5, -1.5, 0})}, {{T::INT32, {3}, {1, -1, 0}}}},
      {C::CAST, {f({3}, {1.5, -1.5, 0})}, {{T::BOOL, {3}, {1, 1, 0}}}},
      {C::CAST, {yes}, {{T::INT64, {3}, {1, 0, 1}}}},
  });
  refuse({C::SELECT_V2, {a, a, two}, {{T::INT32, {3}, {}}}}, "select");
  refuse({C::CAST, {a}, {{T::COMPLEX64, {3}, {}}}}, "it casts i32 to complex64");
}
TEST(TfliteCompute, ComparisonsAndLogic) { comparisons_and_logic(); }

void quantisation() {
  const auto scaled = [](size_t tensor, int64_t zero) {
    return [=](TfliteModel& m) {
      m.tensor(tensor).quantized = true;
      m.tensor(tensor).zero_point = zero;
    };
  };
  const Row dequantize{C::DEQUANTIZE, {{T::INT8, {3}, {-128, 0, 127}}}, {{T::FLOAT32, {3}, {-64.5, -.5, 63}}}};
  const Row quantize{C::QUANTIZE, {f({4}, {.25, -.25, 1000, 0})}, {{T::INT8, {4}, {2, 0, 127, 1}}}};
  for (const auto& [row, damage] : {std::pair(dequantize, scaled(0, 1)), std::pair(quantize, scaled(1, 1))}) {
    TfliteModel model = model_of(row);
    damage(model);
    const Expected<Program> imported = tflite::import_model(model.bytes(), "m.tflite", {});
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    Runtime runtime;
    const Expected<std::vector<Tensor>> results = run_program(runtime, *imported, inputs_of(row), {});
    ASSERT_TRUE(results.ok()) << results.status().message();
    const Tensor& got = (*results)[0];
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(got.data.data()), static_cast<size_t>(got.data.size())),
              bytes_from(row.outputs[0].type, row.outputs[0].numbers));
    that_ran().emplace(row.code, model.bytes());
  }
  check_all({{C::DEQUANTIZE, {{T::FLOAT16, {2}, {1.5, -2}}}, {{T::FLOAT32, {2}, {1.5, -2}}}}});
  refuse({C::DEQUANTIZE, {{T::INT8, {3}, {}}}, {{T::FLOAT32, {3}, {}}}}, "a tensor has no scales");
  refuse({C::QUANTIZE, {i({3}, {})}, {{T::INT8, {3}, {}}}}, "it makes i8 of i32", scaled(1, 0));
  refuse({C::RESHAPE, {{T::INT8, {4}, {}}, c({2}, {2, 2})}, {{T::INT8, {2, 2}, {}}}}, "different scales or zero points",
         [](TfliteModel& m) {
           m.tensor(0).quantized = m.tensor(2).quantized = true;
           m.tensor(2).zero_point = 3;
         });
}
TEST(TfliteCompute, Quantisation) { quantisation(); }

void shapes() {
  const In a = f({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<double> same = a.numbers;
  const auto squeeze = with(Options::SqueezeOptions, [](auto& builder) {
    return schema::CreateSqueezeOptions(builder, builder.CreateVector(std::vector<int32_t>{-1}));
  });
  check_all({
      {C::RESHAPE, {a, c({2}, {3, -1})}, {{T::FLOAT32, {3, 2}, same}}},
      {C::RESHAPE, {a, i({2}, {3, -1})}, {{T::FLOAT32, {3, 2}, same}}},
      {C::SQUEEZE, {f({1, 3, 1}, {1, 2, 3})}, {{T::FLOAT32, {3}, {1, 2, 3}}}},
      {C::SQUEEZE, {f({1, 3, 1}, {1, 2, 3})}, {{T::FLOAT32, {1, 3}, {1, 2, 3}}}, squeeze},
      {C::EXPAND_DIMS, {a, c({}, {-1})}, {{T::FLOAT32, {2, 3, 1}, same}}},
      {C::TRANSPOSE, {a, c({2}, {1, 0})}, {{T::FLOAT32, {3, 2}, {1, 4, 2, 5, 3, 6}}}},
      {C::BROADCAST_TO, {f({2, 1}, {1, 2}), c({2}, {2, 2})}, {{T::FLOAT32, {2, 2}, {1, 1, 2, 2}}}},
      {C::BROADCAST_TO, {f({2, 1}, {1, 2}), i({2}, {2, 2})}, {{T::FLOAT32, {2, 2}, {1, 1, 2, 2}}}},
      {C::TILE, {f({2}, {1, 2}), c({1}, {3})}, {{T::FLOAT32, {6}, {1, 2, 1, 2, 1, 2}}}},
      {C::TILE, {f({2}, {1, 2}), i({1}, {3})}, {{T::FLOAT32, {6}, {1, 2, 1, 2, 1, 2}}}},
      {C::CONCATENATION,
       {f({1, 2}, {1, 2}), f({1, 1}, {3})},
       {{T::FLOAT32, {1, 3}, {1, 2, 3}}},
       with(Options::ConcatenationOptions, [](auto& builder) { return schema::CreateConcatenationOptions(builder, -1); })},
      {C::PACK, {f({2}, {1, 2}), f({2}, {3, 4})}, {{T::FLOAT32, {2, 2}, {1, 3, 2, 4}}}, axis_of(Options::PackOptions, 1)},
      {C::PACK, {i({}, {1}), i({}, {3})}, {{T::INT32, {2}, {1, 3}}}, axis_of(Options::PackOptions, 0)},
      {C::UNPACK, {a}, {{T::FLOAT32, {3}, {1, 2, 3}}, {T::FLOAT32, {3}, {4, 5, 6}}}, axis_of(Options::UnpackOptions, 0)},
      {C::REVERSE_V2, {a, c({1}, {1})}, {{T::FLOAT32, {2, 3}, {3, 2, 1, 6, 5, 4}}}},
      {C::PAD, {f({1, 2}, {1, 2}), c({2, 2}, {1, 0, 0, 2})}, {{T::FLOAT32, {2, 4}, {0, 0, 0, 0, 1, 2, 0, 0}}}},
      {C::PADV2, {f({2}, {1, 2}), c({1, 2}, {1, 1}), f({}, {9})}, {{T::FLOAT32, {4}, {9, 1, 2, 9}}}},
      {C::STABLEHLO_RESHAPE, {a}, {{T::FLOAT32, {6}, same}}},
  });
  refuse({C::RESHAPE, {a, c({2}, {4, -1})}, {{T::FLOAT32, {4, 2}, {}}}}, "expected a multiple of 4");
  refuse({C::RESHAPE, {a}, {{T::FLOAT32, {3, 2}, {}}}}, "neither a shape of rank 1 nor ReshapeOptions");
  refuse({C::SQUEEZE, {a}, {{T::FLOAT32, {2}, {}}}, squeeze}, "dim 1 is 3, expected 1");
  refuse({C::EXPAND_DIMS, {a, c({}, {4})}, {{T::FLOAT32, {2, 3, 1}, {}}}}, "axis is 4, expected -3 to 2");
  refuse({C::EXPAND_DIMS, {a, i({}, {})}, {{T::FLOAT32, {2, 3, 1}, {}}}}, "computed when the model runs");
  refuse({C::TRANSPOSE, {a, c({2}, {1, 1})}, {{T::FLOAT32, {3, 2}, {}}}}, "the permutation holds 1");
  refuse({C::BROADCAST_TO, {a, c({2}, {2, 4})}, {{T::FLOAT32, {2, 4}, {}}}}, "");
  refuse({C::TILE, {a, c({1}, {3})}, {{T::FLOAT32, {2, 9}, {}}}}, "repeats is i32[1], expected one integer per dim: 2");
  refuse({C::PACK, {a, f({2}, {})}, {{T::FLOAT32, {2, 2, 3}, {}}}, axis_of(Options::PackOptions, 0)}, "expected one shape");
  refuse({C::UNPACK, {a}, {{T::FLOAT32, {2}, {}}}, axis_of(Options::UnpackOptions, 1)}, "expected one per output: 1");
  refuse({C::PAD, {a, c({2, 2}, {-1, 0, 0, 0})}, {{T::FLOAT32, {1, 3}, {}}}}, "padded by a negative number");
}
TEST(TfliteCompute, Shapes) { shapes(); }

void parts() {
  const In a = f({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  check_all({
      {C::SLICE, {a, c({2}, {0, 1}), c({2}, {1, -1})}, {{T::FLOAT32, {1, 3}, {2, 3, 4}}}},
      {C::SPLIT, {c({}, {1}), a}, {{T::FLOAT32, {2, 2}, {1, 2, 5, 6}}, {T::FLOAT32, {2, 2}, {3, 4, 7, 8}}}},
      {C::SPLIT_V, {a, c({2}, {1, -1}), c({}, {1})}, {{T::FLOAT32, {2, 1}, {1, 5}}, {T::FLOAT32, {2, 3}, {2, 3, 4, 6, 7, 8}}}},
      {C::STRIDED_SLICE,
       {a, c({2}, {1, 3}), c({2}, {2, 0}), c({2}, {1, -2})},
       {{T::FLOAT32, {1, 2}, {8, 6}}},
       masks(0, 0, 0, 0, 0)},
      {C::STRIDED_SLICE,
       {a, c({2}, {1, 0}), c({2}, {2, 0}), c({2}, {1, -1})},
       {{T::FLOAT32, {4}, {8, 7, 6, 5}}},
       masks(2, 2, 0, 0, 1)},
      {C::STRIDED_SLICE, {a, c({2}, {0, -1}), c({2}, {0, 0}), c({2}, {1, 1})}, {{T::FLOAT32, {2}, {4, 8}}}, masks(0, 0, 1, 0, 2)},
      {C::STRIDED_SLICE,
       {a, c({2}, {0, 1}), c({2}, {0, 2}), c({2}, {1, 1})},
       {{T::FLOAT32, {1, 1, 4}, {5, 6, 7, 8}}},
       masks(0, 0, 0, 1, 0)},
  });
  refuse({C::SLICE, {a, c({2}, {0, 3}), c({2}, {1, 2})}, {{T::FLOAT32, {1, 2}, {}}}}, "expected within f32[2,4]");
  refuse({C::SPLIT, {c({}, {1}), a}, {{T::FLOAT32, {2, 1}, {}}, {T::FLOAT32, {2, 1}, {}}, {T::FLOAT32, {2, 1}, {}}}},
         "expected a multiple of the 3 outputs");
  refuse({C::SPLIT_V, {a, c({2}, {1, 1}), c({}, {1})}, {{T::FLOAT32, {2, 1}, {}}, {T::FLOAT32, {2, 1}, {}}}}, "that sum up to 4");
  refuse({C::STRIDED_SLICE, {a, c({1}, {2}), c({1}, {0}), c({1}, {1})}, {{T::FLOAT32, {4}, {}}}, masks(0, 0, 0, 0, 1)},
         "begin 0 is 2, expected an element of the dim of 2");
  refuse({C::STRIDED_SLICE, {a, c({1}, {0}), c({1}, {1}), c({1}, {0})}, {{T::FLOAT32, {1, 4}, {}}}, masks(0, 0, 0, 0, 0)},
         "stride 0 is 0");
  const In far{T::INT64, {1}, {0x1p62}, true}, one{T::INT64, {1}, {1}, true};
  refuse({C::STRIDED_SLICE, {a, far, far, one}, {{T::FLOAT32, {1, 4}, {}}}, masks(0, 0, 0, 0, 0, true)},
         "end 0 does not fit 64 bits");
  refuse({C::STRIDED_SLICE, {a, i({1}, {}), c({1}, {1}), c({1}, {1})}, {{T::FLOAT32, {1, 4}, {}}}, masks(0, 0, 0, 0, 0)},
         "computed when the model runs");
}
TEST(TfliteCompute, Parts) { parts(); }

void shapes_as_numbers() {
  check_all({
      {C::SHAPE, {f({2, 3}, Numbers(6))}, {{T::INT32, {2}, {2, 3}}}},
      {C::SHAPE, {f({2, 3}, Numbers(6))}, {{T::INT64, {2}, {2, 3}}}},
      {C::RANK, {f({2, 3}, Numbers(6))}, {{T::INT32, {}, {2}}}},
      {C::FILL, {c({2}, {2, 1}), f({}, {7})}, {{T::FLOAT32, {2, 1}, {7, 7}}}},
      {C::FILL, {i({2}, {2, 1}), f({}, {7})}, {{T::FLOAT32, {2, 1}, {7, 7}}}},
      {C::RANGE, {c({}, {1}), c({}, {8}), c({}, {3})}, {{T::INT32, {3}, {1, 4, 7}}}},
      {C::ZEROS_LIKE, {f({2}, {3, 4})}, {{T::FLOAT32, {2}, {0, 0}}}},
      {C::ONE_HOT,
       {i({3}, {1, -1, 0}), c({}, {2}), f({}, {5}), f({}, {1})},
       {{T::FLOAT32, {3, 2}, {1, 5, 1, 1, 5, 1}}},
       with(Options::OneHotOptions, [](auto& builder) { return schema::CreateOneHotOptions(builder, -1); })},
      {C::CUMSUM, {f({4}, {1, 2, 3, 4}), c({}, {0})}, {{T::FLOAT32, {4}, {1, 3, 6, 10}}}},
      {C::CUMSUM,
       {f({4}, {1, 2, 3, 4}), c({}, {0})},
       {{T::FLOAT32, {4}, {9, 7, 4, 0}}},
       with(Options::CumsumOptions, [](auto& builder) { return schema::CreateCumsumOptions(builder, true, true); })},
  });
  check({C::WHERE, {{T::BOOL, {2, 2}, {0, 1, 1, 0}, true}}, {{T::INT64, {2, 2}, {0, 1, 1, 0}}}});
  refuse({C::WHERE, {b({2}, {})}, {{T::INT64, {1, 1}, {}}}}, "its input is computed when the model runs");
  refuse({C::RANGE, {i({}, {}), c({}, {8}), c({}, {1})}, {{T::INT32, {3}, {}}}}, "start or delta is computed");
  refuse({C::ONE_HOT, {i({3}, {}), i({}, {}), f({}, {}), f({}, {})}, {{T::FLOAT32, {3, 2}, {}}}}, "depth) is computed");
  refuse({C::FILL, {c({1}, {-2}), f({}, {7})}, {{T::FLOAT32, {2}, {}}}}, "");
}
TEST(TfliteCompute, ShapesAsNumbers) { shapes_as_numbers(); }

void reductions() {
  const In a = f({2, 3}, {1, 5, 3, 4, 2, 6});
  const auto keep = with(Options::ReducerOptions, [](auto& builder) { return schema::CreateReducerOptions(builder, true); });
  check_all({
      {C::SUM, {a, c({1}, {1})}, {{T::FLOAT32, {2}, {9, 12}}}},
      {C::SUM, {a, c({2}, {0, 1})}, {{T::FLOAT32, {1, 1}, {21}}}, keep},
      {C::REDUCE_MAX, {a, c({}, {-1})}, {{T::FLOAT32, {2, 1}, {5, 6}}}, keep},
      {C::REDUCE_MIN, {a, c({1}, {0})}, {{T::FLOAT32, {3}, {1, 2, 3}}}},
      {C::REDUCE_PROD, {a, c({1}, {0})}, {{T::FLOAT32, {3}, {4, 10, 18}}}},
      {C::REDUCE_ALL, {b({2, 2}, {1, 1, 0, 1}), c({1}, {1})}, {{T::BOOL, {2}, {1, 0}}}},
      {C::REDUCE_ANY, {b({2, 2}, {0, 0, 0, 1}), c({1}, {1})}, {{T::BOOL, {2}, {0, 1}}}},
  });
  refuse({C::SUM, {a, c({1}, {2})}, {{T::FLOAT32, {2}, {}}}}, "an entry of axes is 2");
  refuse({C::SUM, {a, i({1}, {})}, {{T::FLOAT32, {2}, {}}}}, "computed when the model runs");
}
TEST(TfliteCompute, Reductions) { reductions(); }

/// The operators that become kernels, with their inputs in the format's order.
void indexed() {
  const In rows = f({3, 2}, {1, 2, 3, 4, 5, 6}), ids = i({3}, {0, 1, 1});
  const auto unsorted = [&](C code, Numbers numbers) {
    return Row{code, {rows, ids, c({}, {2})}, {{T::FLOAT32, {2, 2}, std::move(numbers)}}};
  };
  for (const Row& row : {
           Row{C::DYNAMIC_UPDATE_SLICE, {rows, f({1, 2}, {8, 9}), i({2}, {1, 0})}, {{T::FLOAT32, {3, 2}, {1, 2, 8, 9, 5, 6}}}},
           Row{C::SCATTER_ND, {i({2, 1}, {2, 2}), f({2}, {1, 4}), c({1}, {3})}, {{T::FLOAT32, {3}, {0, 0, 5}}}},
           Row{C::SPARSE_TO_DENSE, {i({2}, {2, 0}), c({1}, {3}), f({2}, {1, 4}), f({}, {7})}, {{T::FLOAT32, {3}, {4, 7, 1}}}},
           Row{C::SEGMENT_SUM, {rows, ids}, {{T::FLOAT32, {2, 2}, {1, 2, 8, 10}}}},
           unsorted(C::UNSORTED_SEGMENT_SUM, {1, 2, 8, 10}),
           unsorted(C::UNSORTED_SEGMENT_PROD, {1, 2, 15, 24}),
           unsorted(C::UNSORTED_SEGMENT_MAX, {1, 2, 5, 6}),
           unsorted(C::UNSORTED_SEGMENT_MIN, {1, 2, 3, 4}),
           Row{C::EMBEDDING_LOOKUP, {i({2}, {2, 0}), rows}, {{T::FLOAT32, {2, 2}, {5, 6, 1, 2}}}},
           Row{C::GATHER, {rows, i({2}, {2, 0})}, {{T::FLOAT32, {2, 2}, {5, 6, 1, 2}}}},
           Row{C::GATHER_ND, {rows, i({1, 2}, {2, 1})}, {{T::FLOAT32, {1}, {6}}}},
       }) {
    SCOPED_TRACE(text_of(row.code));
    check(row);
  }
  // These two have options of many fields: tests/unit/compiler/import/tflite/tflite_import_test.cc says what they become.
  for (const TfliteModel& model : {stablehlo_scatter_model({}), stablehlo_gather_model()}) {
    const Expected<Program> imported = tflite::import_model(model.bytes(), "m.tflite", {});
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    EXPECT_EQ(imported->kernels().size(), 1U);
    that_ran().emplace(model.graphs[0].operators[0].code, model.bytes());
  }
}
TEST(TfliteCompute, Indexed) { indexed(); }

TEST(TfliteCompute, EveryOperatorHasAnExample) {
  that_ran().clear();
  for (const auto& examples :
       {arithmetic, comparisons_and_logic, quantisation, shapes, parts, shapes_as_numbers, reductions, indexed})
    examples();
  for (const tflite::Operator& op : tflite::operators()) {
    ASSERT_TRUE(that_ran().contains(static_cast<C>(op.code))) << op.name << " has no example here";
    test::check_seed("tflite/" + std::string(op.name) + ".tflite", that_ran()[static_cast<C>(op.code)]);
  }
}

// Each row of the tables counts its inputs.
TEST(TfliteCompute, OperatorsWithoutInputsAreNotRun) {
  for (const tflite::Operator& op : tflite::operators())
    refuse({static_cast<C>(op.code), {}, {{T::FLOAT32, {1}, {}}}}, "inputs, expected");
}

}  // namespace
}  // namespace strew::testing
