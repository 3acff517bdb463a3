// The elementwise operators: arithmetic, comparisons, logic, casts, selections, and the quantisation of floats. Shapes are broadcast as NumPy
// does. Arithmetic on quantized tensors is refused, because LiteRT scales what it computes. Tested by
// tests/unit/compiler/import/tflite/tflite_compute_test.cc and tests/models.
#include "compiler/import/builder/forms.h"
#include "compiler/import/node/operations.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;

/// The names of column tflite of expr_ops.def.
struct Codes {
  using enum schema::BuiltinOperator;
  static constexpr Builtin none = static_cast<Builtin>(-1);  // NOLINT(readability-identifier-naming)
};

/// What ADD, SUB, MUL and DIV apply to their results. The numbers are the format's.
Expected<int> import_activated(Node& node) {
  constexpr int kNone = 0, kRelu = 1, kReluN1To1 = 2, kRelu6 = 3;
  const Expected<int> value = import_apply(node);
  const int activation = fused_activation(node.op());
  if (activation == kNone) return value;
  if (activation == kRelu) return clamped(node.builder(), value, 0);
  if (activation == kReluN1To1) return clamped(node.builder(), value, -1, 1);
  if (activation == kRelu6) return clamped(node.builder(), value, 0, 6);
  return node.refuse("its fused activation is number {}, expected from 0 to 3", activation);
}

/// SQUARE and SQUARED_DIFFERENCE.
Expected<int> import_square(Node& node) {
  const Expected<int> value = node[1] < 0 ? node[0] : node.builder().apply(ExprOp::sub, node.values());
  return node.builder().apply(ExprOp::mul, {value, value});
}

/// The condition of SELECT may be one bool for each row of the operands.
Expected<int> import_select(Node& node) {
  std::vector<int> values = node.values();
  const TensorType condition = node.type(values[0]);
  std::vector<int64_t> dims(node.type(values[1]).dims.size(), 1);
  if (condition.rank() == 1 && dims.size() > 1) {
    dims[0] = condition.dims[0];
    STREW_ASSIGN(values[0], node.builder().reshape(values[0], std::move(dims)));
  }
  return node.builder().apply(ExprOp::select, values);
}

Expected<int> import_cast(Node& node) {
  STREW_ASSIGN(const TensorType to, node.declared_type());
  const DType from = node.type(node[0]).dtype;
  if (from == DType::string || to.dtype == DType::string || is_complex(from) || is_complex(to.dtype))
    return node.refuse("it casts {} to {}, expected numbers", from, to.dtype);
  return node.builder().convert(node[0], to.dtype);
}

/// The scales and zero points of the tensor: a number per element of a dim, or one.
Expected<Scales> scales_for(Node& node, const schema::Tensor& tensor) {
  if (!is_quantized(tensor)) return node.refuse("a tensor has no scales, expected quantized ones");
  const schema::Quantization& from = *tensor.quantization();
  std::vector<Scalar> scales, zeros;
  for (const float scale : scales_of(from)) scales.push_back(Scalar::of(DType::f32, static_cast<double>(scale)));
  for (const int64_t zero : list_of(from.zero_point())) zeros.push_back(Scalar::of(DType::i32, static_cast<double>(zero)));
  if (zeros.empty()) zeros.push_back(Scalar::of(DType::i32, 0));
  if (scales.size() > 4096 || (zeros.size() != 1 && zeros.size() != scales.size()))
    return node.refuse("it has {} scales and {} zero points, expected one for each, at most 4096", scales.size(), zeros.size());
  const auto value_of = [&](const std::vector<Scalar>& numbers) -> Expected<int> {
    ProgramBuilder& builder = node.builder();
    if (numbers.size() == 1) return builder.scalar(numbers[0]);
    std::vector<int> parts;
    for (const Scalar& number : numbers) parts.push_back(builder.scalar(number));
    STREW_ASSIGN(const int64_t dim, node.dim_of(from.quantized_dimension(), node.type(node[0]).rank(), "quantized_dimension"));
    return along_dim(builder, builder.stack(parts, numbers[0].dtype), node[0], dim);
  };
  Scales out;
  STREW_ASSIGN(out.scale, value_of(scales));
  STREW_ASSIGN(out.zero_point, value_of(zeros));
  return out;
}

/// Of f16, a conversion.
Expected<int> import_dequantize(Node& node) {
  STREW_ASSIGN(const schema::Tensor* tensor, node.input_tensor(0));
  const DType dtype = node.type(node[0]).dtype;
  if (is_float(dtype)) return node.builder().convert(node[0], DType::f32);
  if (!is_integer(dtype) || bits(dtype) > 16) return node.refuse("it scales {}, expected integers of at most 16 bits", dtype);
  STREW_ASSIGN(const Scales scales, scales_for(node, *tensor));
  return dequantized(node.builder(), node[0], scales, DType::i32, DType::f32);
}

/// Of f32, rounded half away from zero. LiteRT scales integers in fixed point; that is refused.
Expected<int> import_quantize(Node& node) {
  STREW_ASSIGN(const schema::Tensor* tensor, node.output_tensor(0));
  STREW_ASSIGN(const TensorType to, node.declared_type());
  STREW_ASSIGN(const Scales scales, scales_for(node, *tensor));
  return quantized(node.builder(), node[0], scales, ExprOp::round_half_away, to.dtype);
}

}  // namespace

std::vector<Operator> elementwise_operators() {
  constexpr auto kRefused = Quantized::refused, kSame = Quantized::same, kStored = Quantized::as_stored;
  std::vector<Operator> all = {
// Operators that are one operator of expressions. The rows of code `none` are of those that TFLite lacks.
#define STREW_TFLITE_ROW(op, name, arity, arguments, result, onnx, opset, tflite, ...) \
  {Codes::tflite, {kOperands[arity], ExprOp::op}, kRefused, import_activated},
      STREW_EXPR_OPS(STREW_TFLITE_ROW)
#undef STREW_TFLITE_ROW
          {Builtin::ADD_N, {"operand...", ExprOp::add}, kRefused, import_chain},
      {Builtin::CAST, {"operand"}, kRefused, import_cast},
      {Builtin::DEQUANTIZE, {"operand"}, kStored, import_dequantize},
      {Builtin::FLOOR_DIV, {"operand operand"}, kRefused, [](Node& node) { return floor_div(node.builder(), node[0], node[1]); }},
      {Builtin::FLOOR_MOD, {"operand operand"}, kRefused, [](Node& node) { return floor_rem(node.builder(), node[0], node[1]); }},
      {Builtin::QUANTIZE, {"operand"}, kStored, import_quantize},
      {Builtin::RELU, {"operand"}, kRefused, [](Node& node) { return clamped(node.builder(), node[0], 0); }},
      {Builtin::RELU6, {"operand"}, kRefused, [](Node& node) { return clamped(node.builder(), node[0], 0, 6); }},
      {Builtin::RELU_N1_TO_1, {"operand"}, kRefused, [](Node& node) { return clamped(node.builder(), node[0], -1, 1); }},
      {Builtin::SELECT, {"operand operand operand"}, kSame, import_select},
      {Builtin::SELECT_V2, {"operand operand operand", ExprOp::select}, kSame, import_apply},
      {Builtin::SQUARE, {"operand"}, kRefused, import_square},
      {Builtin::SQUARED_DIFFERENCE, {"operand operand"}, kRefused, import_square},
      {Builtin::STABLEHLO_CONVERT, {"operand"}, kRefused, import_cast},
      {Builtin::STABLEHLO_SELECT, {"operand operand operand", ExprOp::select}, kSame, import_apply},
      {Builtin::STABLEHLO_ABS, {kOperands[1], ExprOp::abs}, kRefused, import_activated},
      {Builtin::STABLEHLO_NEGATE, {kOperands[1], ExprOp::neg}, kRefused, import_activated},
      {Builtin::STABLEHLO_ADD, {kOperands[2], ExprOp::add}, kRefused, import_activated},
      {Builtin::STABLEHLO_AND, {kOperands[2], ExprOp::bit_and}, kRefused, import_activated},
      {Builtin::STABLEHLO_DIVIDE, {kOperands[2], ExprOp::div}, kRefused, import_activated},
      {Builtin::STABLEHLO_MAXIMUM, {kOperands[2], ExprOp::max}, kRefused, import_activated},
      {Builtin::STABLEHLO_MINIMUM, {kOperands[2], ExprOp::min}, kRefused, import_activated},
      {Builtin::STABLEHLO_MULTIPLY, {kOperands[2], ExprOp::mul}, kRefused, import_activated},
      {Builtin::STABLEHLO_OR, {kOperands[2], ExprOp::bit_or}, kRefused, import_activated},
      {Builtin::STABLEHLO_REMAINDER, {kOperands[2], ExprOp::rem}, kRefused, import_activated},
      {Builtin::STABLEHLO_SUBTRACT, {kOperands[2], ExprOp::sub}, kRefused, import_activated},
  };
  std::erase_if(all, [](const Operator& op) { return op.code == Codes::none; });
  return all;
}

}  // namespace strew::inline v0::tflite
