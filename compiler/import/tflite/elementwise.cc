// The elementwise operators: arithmetic, comparisons, logic, casts, selections, and the quantisation of floats. Shapes are broadcast as NumPy
// does. Arithmetic on quantized tensors is refused, because LiteRT scales what it computes. Tested by
// tests/unit/compiler/import/tflite/tflite_compute_test.cc and tests/models.
#include "compiler/import/builder/forms.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tensor.h"
#include "compiler/import/tflite/tflite.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;

/// The names of column tflite of expr_ops.def.
struct Codes {
  using enum schema::BuiltinOperator;
  static constexpr Builtin none = static_cast<Builtin>(-1);  // NOLINT(readability-identifier-naming)
};
struct OperatorRow {
  std::string_view name;
  Builtin code;
  ExprOp op;
};
/// TFLite's operators that are one operator of expressions; the rows of code `none` are of those that TFLite lacks.
constexpr OperatorRow kPlain[] = {
#define STREW_TFLITE_ROW(op, name, arity, arguments, result, onnx, opset, tflite, ...) {#tflite, Codes::tflite, ExprOp::op},
    STREW_EXPR_OPS(STREW_TFLITE_ROW)
#undef STREW_TFLITE_ROW
        {"STABLEHLO_ABS", Builtin::STABLEHLO_ABS, ExprOp::abs},
    {"STABLEHLO_NEGATE", Builtin::STABLEHLO_NEGATE, ExprOp::neg},
    {"STABLEHLO_ADD", Builtin::STABLEHLO_ADD, ExprOp::add},
    {"STABLEHLO_AND", Builtin::STABLEHLO_AND, ExprOp::bit_and},
    {"STABLEHLO_DIVIDE", Builtin::STABLEHLO_DIVIDE, ExprOp::div},
    {"STABLEHLO_MAXIMUM", Builtin::STABLEHLO_MAXIMUM, ExprOp::max},
    {"STABLEHLO_MINIMUM", Builtin::STABLEHLO_MINIMUM, ExprOp::min},
    {"STABLEHLO_MULTIPLY", Builtin::STABLEHLO_MULTIPLY, ExprOp::mul},
    {"STABLEHLO_OR", Builtin::STABLEHLO_OR, ExprOp::bit_or},
    {"STABLEHLO_REMAINDER", Builtin::STABLEHLO_REMAINDER, ExprOp::rem},
    {"STABLEHLO_SUBTRACT", Builtin::STABLEHLO_SUBTRACT, ExprOp::sub},
};

ExprOp op_of(Builtin code) {
  const OperatorRow* row = kPlain;
  while (row->code != code) ++row;
  return row->op;
}

Expected<std::vector<int>> operands(const Node& node, uint32_t count) {
  STREW_TRY(node.check_signature(count, 1));
  STREW_TRY(node.check_not_quantized());
  return node.all_inputs();
}

/// What ADD, SUB, MUL and DIV apply to their results. The numbers are the format's.
Expected<int> activated(Node& node, int value, int activation) {
  constexpr int kNone = 0, kRelu = 1, kReluN1To1 = 2, kRelu6 = 3;
  if (activation == kNone) return value;
  if (activation != kRelu && activation != kReluN1To1 && activation != kRelu6)
    return node.refuse("its fused activation is number " + std::to_string(activation) + ", expected from 0 to 3");
  ProgramBuilder builder = node.builder();
  const DType dtype = builder.type(value).dtype;
  const double least = activation == kReluN1To1 ? -1 : 0, most = activation == kRelu6 ? 6 : 1;
  STREW_ASSIGN(const int raised, builder.apply(ExprOp::max, {value, builder.scalar(Scalar::of(dtype, least))}));
  if (activation == kRelu) return raised;
  return builder.apply(ExprOp::min, {raised, builder.scalar(Scalar::of(dtype, most))});
}

int fused_activation(const Node& node) {
  for (const auto kind : {schema::BuiltinOptions::AddOptions, schema::BuiltinOptions::SubOptions,
                          schema::BuiltinOptions::MulOptions, schema::BuiltinOptions::DivOptions})
    if (const auto* options = node.options<schema::ActivationOptions>(kind)) return options->fused_activation_function();
  return 0;
}

Status import_plain(Node& node) {
  const ExprOp op = op_of(node.code());
  STREW_ASSIGN(const std::vector<int> values, operands(node, static_cast<uint32_t>(info(op).arity)));
  const Expected<int> out = node.builder().apply(op, values);
  if (!out.ok()) return node.give(out);
  return node.give(activated(node, *out, fused_activation(node)));
}

Status import_add_n(Node& node) {
  STREW_ASSIGN(const std::vector<int> values, operands(node, node.inputs()));
  if (values.empty()) return node.error("it has no inputs, expected one at least");
  Expected<int> out = values[0];
  for (size_t i = 1; i < values.size() && out.ok(); ++i) out = node.builder().apply(ExprOp::add, {*out, values[i]});
  return node.give(out);
}

Status import_relu(Node& node) {
  STREW_ASSIGN(const std::vector<int> values, operands(node, 1));
  return node.give(activated(node, values[0], node.code() == Builtin::RELU ? 1 : node.code() == Builtin::RELU_N1_TO_1 ? 2 : 3));
}

Status import_floor_div(Node& node) {
  STREW_ASSIGN(const std::vector<int> values, operands(node, 2));
  ProgramBuilder builder = node.builder();
  return node.give(floor_div(builder, values[0], values[1]));
}

Status import_floor_mod(Node& node) {
  STREW_ASSIGN(const std::vector<int> values, operands(node, 2));
  ProgramBuilder builder = node.builder();
  return node.give(floor_rem(builder, values[0], values[1]));
}

/// SQUARE and SQUARED_DIFFERENCE.
Status import_square(Node& node) {
  STREW_ASSIGN(const std::vector<int> values, operands(node, node.code() == Builtin::SQUARE ? 1 : 2));
  ProgramBuilder builder = node.builder();
  int value = values[0];
  if (values.size() == 2) {
    const Expected<int> difference = builder.apply(ExprOp::sub, values);
    if (!difference.ok()) return node.give(difference);
    value = *difference;
  }
  return node.give(builder.apply(ExprOp::mul, {value, value}));
}

/// The condition of SELECT may be one bool for each row of the operands.
Status import_select(Node& node) {
  STREW_TRY(node.check_signature(3, 1));
  STREW_TRY(node.check_same_quantization());
  STREW_ASSIGN(std::vector<int> values, node.all_inputs());
  ProgramBuilder builder = node.builder();
  const TensorType condition = builder.type(values[0]);
  const int rank = builder.type(values[1]).rank();
  if (node.code() == Builtin::SELECT && condition.rank() == 1 && rank > 1) {
    std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
    dims[0] = condition.dims[0];
    STREW_ASSIGN(values[0], builder.reshape(values[0], std::move(dims)));
  }
  return node.give(builder.apply(ExprOp::select, values));
}

Status import_cast(Node& node) {
  STREW_ASSIGN(const std::vector<int> values, operands(node, 1));
  STREW_ASSIGN(const schema::Tensor* output, node.output_tensor(0));
  STREW_ASSIGN(const TensorType to, tensor_type(*output, node.location() + ": output 0"));
  const DType from = node.type(values[0]).dtype;
  if (from == DType::string || to.dtype == DType::string || is_complex(from) || is_complex(to.dtype))
    return node.refuse("it casts " + std::string(name(from)) + " to " + std::string(name(to.dtype)) + ", expected numbers");
  ProgramBuilder builder = node.builder();
  // Any number but zero becomes true.
  if (to.dtype == DType::boolean && from != DType::boolean)
    return node.give(builder.apply(ExprOp::ne, {values[0], builder.scalar(Scalar::of(from, 0))}));
  return node.give(builder.convert(values[0], to.dtype));
}

/// A number per element of a dim, with dims of 1 around it; or the only one.
Expected<int> along_dim(Node& node, const std::vector<Scalar>& numbers, int value, int dim) {
  ProgramBuilder builder = node.builder();
  if (numbers.size() == 1) return builder.scalar(numbers[0]);
  std::vector<int> parts;
  for (const Scalar& number : numbers) parts.push_back(builder.scalar(number));
  std::vector<int64_t> dims(builder.type(value).dims.size(), 1);
  STREW_ASSIGN(const int64_t along, node.dim_of(dim, static_cast<int>(dims.size()), "quantized_dimension"));
  dims[static_cast<size_t>(along)] = static_cast<int64_t>(numbers.size());
  return builder.reshape(builder.stack(parts, numbers[0].dtype), std::move(dims));
}

struct Scales {
  int scale = -1, zero_point = -1;  ///< values: f32 and i32
};

Expected<Scales> scales_for(Node& node, const schema::Tensor& tensor, int value) {
  if (!is_quantized(tensor)) return node.refuse("a tensor has no scales, expected quantized ones");
  const schema::Quantization& from = *tensor.quantization();
  std::vector<Scalar> scales, zeros;
  for (const float scale : scales_of(from)) scales.push_back(Scalar::of(DType::f32, static_cast<double>(scale)));
  for (const int64_t zero : list_of(from.zero_point())) zeros.push_back(Scalar::of(DType::i32, static_cast<double>(zero)));
  if (zeros.empty()) zeros.push_back(Scalar::of(DType::i32, 0));
  if (scales.size() > 4096 || (zeros.size() != 1 && zeros.size() != scales.size()))
    return node.refuse("it has " + std::to_string(scales.size()) + " scales and " + std::to_string(zeros.size()) +
                       " zero points, expected one for each, at most 4096");
  Scales out;
  STREW_ASSIGN(out.scale, along_dim(node, scales, value, from.quantized_dimension()));
  STREW_ASSIGN(out.zero_point, along_dim(node, zeros, value, from.quantized_dimension()));
  return out;
}

/// (x - zero_point) * scale; of f16, a conversion.
Status import_dequantize(Node& node) {
  STREW_TRY(node.check_signature(1, 1));
  STREW_ASSIGN(const int value, node.input(0, "operand"));
  STREW_ASSIGN(const schema::Tensor* tensor, node.input_tensor(0));
  ProgramBuilder builder = node.builder();
  const DType dtype = builder.type(value).dtype;
  if (is_float(dtype)) return node.give(builder.convert(value, DType::f32));
  if (!is_integer(dtype) || bits(dtype) > 16)
    return node.refuse("it scales " + std::string(name(dtype)) + ", expected integers of at most 16 bits");
  STREW_ASSIGN(const Scales scales, scales_for(node, *tensor, value));
  STREW_ASSIGN(int out, builder.convert(value, DType::i32));
  STREW_ASSIGN(out, builder.apply(ExprOp::sub, {out, scales.zero_point}));
  STREW_ASSIGN(out, builder.convert(out, DType::f32));
  return node.give(builder.apply(ExprOp::mul, {out, scales.scale}));
}

/// saturate(round(x / scale) + zero_point) of f32, rounded half away from zero. LiteRT scales integers in fixed point; that is refused.
Status import_quantize(Node& node) {
  STREW_TRY(node.check_signature(1, 1));
  STREW_ASSIGN(const int value, node.input(0, "operand"));
  STREW_ASSIGN(const schema::Tensor* tensor, node.output_tensor(0));
  STREW_ASSIGN(const TensorType to, tensor_type(*tensor, node.location() + ": output 0"));
  ProgramBuilder builder = node.builder();
  const DType from = builder.type(value).dtype;
  if (from != DType::f32 || !is_integer(to.dtype) || bits(to.dtype) > 16)
    return node.refuse("it makes " + std::string(name(to.dtype)) + " of " + std::string(name(from)) +
                       ", expected integers of at most 16 bits of f32");
  STREW_ASSIGN(const Scales scales, scales_for(node, *tensor, value));
  STREW_ASSIGN(int out, builder.apply(ExprOp::div, {value, scales.scale}));
  STREW_ASSIGN(out, builder.apply(ExprOp::round_half_away, {out}));
  STREW_ASSIGN(const int zero, builder.convert(scales.zero_point, from));
  STREW_ASSIGN(out, builder.apply(ExprOp::add, {out, zero}));
  const double least = is_signed_integer(to.dtype) ? -static_cast<double>(int64_t{1} << (bits(to.dtype) - 1)) : 0;
  const double most = least + static_cast<double>((int64_t{1} << bits(to.dtype)) - 1);
  STREW_ASSIGN(out, builder.apply(ExprOp::max, {out, builder.scalar(Scalar::of(from, least))}));
  STREW_ASSIGN(out, builder.apply(ExprOp::min, {out, builder.scalar(Scalar::of(from, most))}));
  return node.give(builder.convert(out, to.dtype));
}

}  // namespace

const std::vector<Operator>& elementwise_operators() {
  static const auto& list = *new const std::vector<Operator>([] {
    std::vector<Operator> all = {
        {"ADD_N", Builtin::ADD_N, import_add_n},
        {"CAST", Builtin::CAST, import_cast},
        {"DEQUANTIZE", Builtin::DEQUANTIZE, import_dequantize},
        {"FLOOR_DIV", Builtin::FLOOR_DIV, import_floor_div},
        {"FLOOR_MOD", Builtin::FLOOR_MOD, import_floor_mod},
        {"QUANTIZE", Builtin::QUANTIZE, import_quantize},
        {"RELU", Builtin::RELU, import_relu},
        {"RELU6", Builtin::RELU6, import_relu},
        {"RELU_N1_TO_1", Builtin::RELU_N1_TO_1, import_relu},
        {"SELECT", Builtin::SELECT, import_select},
        {"SELECT_V2", Builtin::SELECT_V2, import_select},
        {"SQUARE", Builtin::SQUARE, import_square},
        {"SQUARED_DIFFERENCE", Builtin::SQUARED_DIFFERENCE, import_square},
        {"STABLEHLO_CONVERT", Builtin::STABLEHLO_CONVERT, import_cast},
        {"STABLEHLO_SELECT", Builtin::STABLEHLO_SELECT, import_select},
    };
    for (const OperatorRow& row : kPlain)
      if (row.code != Codes::none) all.emplace_back(row.name, row.code, import_plain);
    return all;
  }());
  return list;
}

}  // namespace strew::inline v0::tflite
