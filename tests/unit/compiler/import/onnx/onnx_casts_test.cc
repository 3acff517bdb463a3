// Conversions of ONNX whose results lie outside of what the target type holds, and sums of nothing: values as onnx's reference implementation
// (1.23) and the tables in the documentation of Cast have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/number.h"
#include "compiler/import/onnx/onnx.h"
#include "strew/run_program.h"
#include "tests/support/onnx_writer.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kInt16 = 5, kInt32 = 6, kFloat16 = 10, kUint16 = 4, kUint8 = 2;
constexpr int kE4m3fn = 17, kE4m3fnuz = 18, kE5m2 = 19, kE5m2fnuz = 20, kE8m0 = 24;
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNone = std::numeric_limits<double>::quiet_NaN();

/// Numbers of a dtype, as ONNX stores them in raw_data.
OnnxTensor numbers(const std::string& name, int type, DType dtype, std::vector<double> values, std::vector<int64_t> dims) {
  std::string raw(static_cast<size_t>(storage_bytes(dtype, static_cast<int64_t>(values.size()))), '\0');
  for (size_t i = 0; i < values.size(); ++i)
    store_element(dtype, raw.data(), static_cast<int64_t>(i), {dtype, {encode(dtype, values[i]), 0}});
  return {name, type, std::move(dims), raw};
}

/// The elements of y, which the nodes make of the constants. A Gather beside them makes the model one that strew takes.
std::vector<double> run(const std::vector<OnnxNode>& nodes, const std::vector<OnnxTensor>& constants) {
  OnnxModel m;
  m.nodes = nodes;
  m.initializers = constants;
  m.inputs = {{"zero", kInt64, {1}}};
  m.outputs = {{"y", kFloat, {}, false}};
  m.nodes.push_back({"Gather", "kernel", "", {"zero", "zero"}, {"gathered"}, {}});
  const Expected<Program> program = onnx::import_model(m.bytes(), "m.onnx", {});
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return {};
  for (const Opaque& opaque : program->opaques()) ADD_FAILURE() << opaque.location << ": " << opaque.reason;
  std::vector<std::unique_ptr<Tensor>> inputs(1);
  const Expected<std::vector<Tensor>> out = run_program(Runtime::process(), *program, std::move(inputs), {});
  EXPECT_TRUE(out.ok()) << out.status().message();
  std::vector<double> values;
  for (int64_t i = 0; out.ok() && i < (*out)[0].elements(); ++i)
    values.push_back(decode((*out)[0].dtype, load_element((*out)[0].dtype, (*out)[0].data.data(), i).bits[0]));
  return values;
}

std::vector<double> cast(int from, DType dtype, std::vector<double> values, int to, int saturate = -1) {
  const auto count = static_cast<int64_t>(values.size());
  std::vector<ProtoWriter> attributes = {onnx_int("to", to)};
  if (saturate >= 0) attributes.push_back(onnx_int("saturate", saturate));
  return run({{"Cast", "cast", "", {"x"}, {"y"}, attributes}}, {numbers("x", from, dtype, std::move(values), {count})});
}

using ::testing::NanSensitiveDoubleEq;

TEST(OnnxCasts, FloatsSaturateToF8) {
  struct Row {
    int to;
    double largest, beyond;  ///< what an infinity becomes without saturation
  };
  for (const Row& row :
       {Row{kE4m3fn, 448, kNone}, Row{kE4m3fnuz, 240, kNone}, Row{kE5m2, 57344, kInfinity}, Row{kE5m2fnuz, 57344, kNone}}) {
    const std::vector<double> values = {1, 1e6, -1e6, kInfinity, -kInfinity, kNone};
    const double most = row.largest, beyond = row.beyond;
    EXPECT_THAT(cast(kFloat, DType::f32, values, row.to), ElementsAre(1, most, -most, most, -most, NanSensitiveDoubleEq(kNone)))
        << row.to;
    const auto is = [](double value) { return NanSensitiveDoubleEq(value); };
    EXPECT_THAT(cast(kFloat, DType::f32, values, row.to, 0),
                ElementsAre(1, is(beyond), is(-beyond), is(beyond), is(-beyond), is(kNone)))
        << row.to;
    EXPECT_THAT(cast(kFloat16, DType::f16, {most, 65504, -kInfinity}, row.to), ElementsAre(most, most, -most)) << row.to;
  }
}

TEST(OnnxCasts, OtherNumbersSaturateToF8) {
  EXPECT_THAT(cast(kInt32, DType::i32, {1000, -1000, 3}, kE4m3fn), ElementsAre(448, -448, 3));
  EXPECT_THAT(cast(kInt16, DType::i16, {32767, -32768}, kE5m2), ElementsAre(32768, -32768));
  EXPECT_THAT(cast(kUint16, DType::u16, {65535}, kE5m2), ElementsAre(57344));
  EXPECT_THAT(cast(kUint8, DType::u8, {255}, kE4m3fnuz), ElementsAre(240));
  EXPECT_THAT(cast(kUint8, DType::u8, {255}, kE4m3fn), ElementsAre(256));
  // 240 is no number of f8e5m2.
  EXPECT_THAT(cast(kE5m2, DType::f8e5m2, {256, -57344, 224}, kE4m3fnuz), ElementsAre(240, -240, 224));
}

TEST(OnnxCasts, CastLikeSaturatesToo) {
  const OnnxTensor x = numbers("x", kFloat, DType::f32, {1000}, {1}), like = numbers("like", kE4m3fn, DType::f8e4m3fn, {1}, {1});
  EXPECT_THAT(run({{"CastLike", "cast", "", {"x", "like"}, {"y"}, {}}}, {x, like}), ElementsAre(448));
  EXPECT_THAT(run({{"CastLike", "cast", "", {"x", "like"}, {"y"}, {onnx_int("saturate", 0)}}}, {x, like}),
              ElementsAre(NanSensitiveDoubleEq(kNone)));
}

TEST(OnnxCasts, Refusals) {
  const auto reason = [](std::vector<ProtoWriter> attributes) {
    OnnxModel m;
    m.inputs = {{"x", kFloat, {1}}, {"zero", kInt64, {1}}};
    m.outputs = {{"y", kFloat, {}, false}};
    m.nodes = {{"Cast", "cast", "", {"x"}, {"y"}, std::move(attributes)},
               {"Gather", "kernel", "", {"zero", "zero"}, {"gathered"}, {}}};
    const Expected<Program> program = onnx::import_model(m.bytes(), "m.onnx", {});
    return program.ok() && program->opaques().size() == 1 ? program->opaque(0).reason : "run";
  };
  EXPECT_THAT(reason({onnx_int("to", (int64_t{1} << 32) + 1)}), HasSubstr("attribute to is 4294967297, expected"));
  EXPECT_THAT(reason({onnx_int("to", kE8m0)}), HasSubstr("does not convert"));
  EXPECT_THAT(reason({onnx_int("to", kE4m3fn), onnx_string("round_mode", "away")}),
              HasSubstr("round_mode is 'away', expected up"));
}

TEST(OnnxCasts, DequantizeLinear) {
  const auto dequantized = [](OnnxTensor x, OnnxTensor scale) {
    return run({{"DequantizeLinear", "d", "", {"x", "scale"}, {"y"}, {}}}, {std::move(x), std::move(scale)});
  };
  const OnnxTensor one = numbers("scale", kFloat, DType::f32, {1}, {});
  EXPECT_THAT(dequantized(numbers("x", kE4m3fn, DType::f8e4m3fn, {.5, 1.5, 2, -.25}, {4}), one), ElementsAre(.5, 1.5, 2, -.25));
  EXPECT_THAT(dequantized(numbers("x", kFloat4, DType::f4e2m1, {.5, 1.5, -6}, {3}), one), ElementsAre(.5, 1.5, -6));
  // 65535 is no number of f16, but 65535 / 2 rounds to one.
  EXPECT_THAT(dequantized(numbers("x", kUint16, DType::u16, {65535}, {1}), numbers("scale", kFloat16, DType::f16, {.5}, {})),
              ElementsAre(32768));
  EXPECT_THAT(dequantized(numbers("x", kInt32, DType::i32, {-70000}, {1}), one), ElementsAre(-70000));
  EXPECT_THAT(run({{"DequantizeLinear", "d", "", {"x", "scale", "zero_point"}, {"y"}, {}}},
                  {numbers("x", kUint8, DType::u8, {0, 255}, {2}), one, numbers("zero_point", kUint8, DType::u8, {128}, {})}),
              ElementsAre(-128, 127));
}

TEST(OnnxCasts, NonZeroKnowsTheZerosOfADtype) {
  const auto coordinates = [](int type, std::vector<unsigned char> codes) {
    OnnxTensor x{"x", type, {static_cast<int64_t>(codes.size())}, std::string(codes.begin(), codes.end())};
    return run({{"NonZero", "n", "", {"x"}, {"i"}, {}}, {"Cast", "c", "", {"i"}, {"y"}, {onnx_int("to", kFloat)}}}, {x});
  };
  EXPECT_THAT(coordinates(kE4m3fnuz, {0x00, 0x80, 0x01}), ElementsAre(1, 2)) << "0x80 is NaN";
  EXPECT_THAT(coordinates(kE4m3fn, {0x00, 0x80, 0x01}), ElementsAre(2)) << "0x80 is -0";
  EXPECT_THAT(coordinates(kE8m0, {0x00, 0x80}), ElementsAre(0, 1)) << "no code is 0";
  EXPECT_THAT(coordinates(27, {0x60, 0x08}), ElementsAre(1)) << "0x20 and 0x21, of six bits each: -0 and another";
}

TEST(OnnxCasts, TheSumOfNothingIsZero) {
  const auto signs = [](const std::vector<double>& values) {
    std::vector<bool> out;
    for (const double value : values) out.push_back(std::signbit(value));
    return out;
  };
  const OnnxTensor axes{"axes", kInt64, {1}, std::string(8, '\0')};
  const OnnxNode sum{"ReduceSum", "sum", "", {"x", "axes"}, {"y"}, {}};
  EXPECT_THAT(signs(run({sum}, {numbers("x", kFloat, DType::f32, {}, {0, 2}), axes})), ElementsAre(false, false));
  EXPECT_THAT(signs(run({sum}, {numbers("x", kFloat, DType::f32, {-0.0, 0.0}, {1, 2}), axes})), ElementsAre(true, false));
}

}  // namespace
}  // namespace strew::testing
