// The elementwise operators: arithmetic, comparisons, logic, casts, Where, Clip, and quantisation as ONNX defines it by these. Shapes are
// broadcast as NumPy does. Attributes that change what an operator means are read; an operator with an attribute that is not read here is
// refused, and becomes opaque. Tested by tests/unit/compiler/import/onnx/onnx_compute_test.cc,
// tests/unit/compiler/import/onnx/onnx_casts_test.cc and tests/models.
#include <cmath>

#include "base/number.h"
#include "compiler/import/builder/forms.h"
#include "compiler/import/node/operations.h"
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/tensor_proto.h"

namespace strew::inline v0::onnx {
namespace {

/// The remainder has the sign of the divisor, as in Python, unless fmod is 1: then that of the dividend, as in C.
Expected<int> import_mod(Node& node) {
  if (node.flag("fmod")) return node.builder().apply(ExprOp::rem, node.values());
  if (is_float(node.type(node[0]).dtype)) return node.error("fmod is 0 and the operands are floats, expected 1");
  return floor_rem(node.builder(), node[0], node[1]);
}

/// Bounds are attributes before opset 11, and inputs since.
Expected<int> import_clip(Node& node) {
  const DType dtype = node.type(node[0]).dtype;
  const auto bounded = [&](const Expected<int>& value, int limit, std::string_view name, ExprOp op) {
    const std::optional<float> number = node.number(name);
    if (limit < 0 && number) limit = node.builder().number(static_cast<double>(*number), dtype);
    return limit < 0 ? value : node.builder().apply(op, {value, limit});
  };
  return bounded(bounded(node[0], node[1], "min", ExprOp::max), node[2], "max", ExprOp::min);
}

Expected<int> import_reciprocal(Node& node) {
  return node.builder().apply(ExprOp::div, {node.builder().number(1, node.type(node[0]).dtype), node[0]});
}

Expected<int> import_is_nan(Node& node) { return node.builder().apply(ExprOp::ne, {node[0], node[0]}); }

Expected<int> import_pow(Node& node) {
  return node.builder().apply(ExprOp::pow, {node[0], node.builder().convert(node[1], node.type(node[0]).dtype)});
}

/// The largest finite value of an f8 to which ONNX saturates: of the kinds that it calls FLOAT8E4M3FN, E4M3FNUZ, E5M2 and E5M2FNUZ. 0 of other
/// dtypes, whose conversions have no attribute `saturate`.
double saturation_bound(DType dtype) {
  if (dtype != DType::f8e4m3fn && dtype != DType::f8e4m3fnuz && dtype != DType::f8e5m2 && dtype != DType::f8e5m2fnuz) return 0;
  uint64_t code = 0x7f;
  while (!std::isfinite(decode(dtype, code))) --code;
  return decode(dtype, code);
}

/// Clips `value` to -bound and bound, which are whole numbers. Numbers of its dtype that cannot reach them stay as they are, and NaN stays NaN.
Expected<int> clipped(ProgramBuilder& builder, int value, double bound) {
  DType dtype = builder.type(value).dtype;
  if (dtype == DType::boolean) return value;
  if (is_float(dtype) && bits(dtype) <= 8) {  // it may have no code for the bound
    STREW_ASSIGN(value, builder.convert(value, DType::f32));
    dtype = DType::f32;
  }
  const bool has_sign = !is_unsigned_integer(dtype);
  const int digits = bits(dtype) - (has_sign ? 1 : 0);
  if (is_integer(dtype) && std::ldexp(1.0, digits) <= bound) return value;
  const Expected<int> lowered = builder.apply(ExprOp::min, {value, builder.number(bound, dtype)});
  return has_sign ? builder.apply(ExprOp::max, {lowered, builder.number(-bound, dtype)}) : lowered;
}

/// `value` as `dtype`. Conversions to f8 saturate unless the node says otherwise: beyond the largest finite value, that value. Conversions to
/// f8e8m0, which alone round_mode is about, are refused by the conversion itself, as those of every dtype without arithmetic are.
Expected<int> cast_to(const Node& node, int value, DType dtype) {
  const std::string round_mode = node.text("round_mode", "up");
  if (round_mode != "up" && round_mode != "down" && round_mode != "nearest")
    return node.error("round_mode is '{}', expected up, down or nearest", round_mode);
  const double bound = saturation_bound(dtype);
  if (node.flag("saturate", true) && bound > 0 && node.type(value).dtype != dtype)
    STREW_TRY(assign(value, clipped(node.builder(), value, bound)));
  return node.builder().convert(value, dtype);
}

Expected<int> import_cast(Node& node) {
  const int64_t to = node.integer("to");
  if (to != static_cast<int32_t>(to)) return node.error("attribute to is {}, expected an element type's number", to);
  STREW_ASSIGN(const DType dtype, element_type(static_cast<int32_t>(to), node.location() + ": attribute to"));
  if (node.type(node[0]).dtype == DType::string || dtype == DType::string)
    return node.error("it casts strings, expected numbers");
  return cast_to(node, node[0], dtype);
}

/// The scale and the zero point. One of rank 1 belongs to dim `axis`.
Expected<Scales> scales_of(const Node& node) {
  const auto parameter = [&](size_t i) -> Expected<int> {
    if (node[i] < 0) return -1;
    const TensorType type = node.type(node[i]);
    if (type.rank() == 0 || (type.rank() == 1 && type.dims[0] == 1)) return node.builder().reshape(node[i], {});
    STREW_ASSIGN(const int64_t axis, node.axis(1, node.type(node[0]).rank()));
    if (type.rank() != 1) return node.refuse("scales in blocks, expected one for the tensor or one for each element of a dim");
    return along_dim(node.builder(), node[i], node[0], axis);
  };
  Scales out;
  STREW_ASSIGN(out.scale, parameter(1));
  STREW_ASSIGN(out.zero_point, parameter(2));
  return out;
}

Expected<int> import_quantize(Node& node) {
  const DType dtype = node[2] < 0 ? DType::u8 : node.type(node[2]).dtype;
  STREW_ASSIGN(const Scales scales, scales_of(node));
  return quantized(node.builder(), node[0], scales, ExprOp::round_half_even, dtype);
}

/// The difference is exact: of integers in i32, of f8 and f4 in f32. The product is computed in f32, as ONNX's reference does, and rounded
/// once to the scale's dtype.
Expected<int> import_dequantize(Node& node) {
  const DType from = node.type(node[0]).dtype, result = node.type(node[1]).dtype;
  const bool is_narrow_float = is_float(from) && bits(from) <= 8,
             is_whole = is_integer(from) && (bits(from) <= 16 || from == DType::i32);
  if ((!is_narrow_float && !is_whole) || (result != DType::f32 && result != DType::f16 && result != DType::bf16))
    return node.error("it makes {} of {}, expected f32, f16 or bf16 of integers of at most 16 bits, i32, f8 or f4", result, from);
  STREW_ASSIGN(const Scales scales, scales_of(node));
  return dequantized(node.builder(), node[0], scales, is_whole ? DType::i32 : DType::f32, result);
}

}  // namespace

std::vector<Operator> elementwise_operators() {
  constexpr auto kText = AttributeType::text, kNumber = AttributeType::number;
  std::vector<Operator> all = {
// Operators that are one operator of expressions. The rows without a name are of those that ONNX lacks.
#define STREW_ONNX_ROW(op, name, arity, arguments, result, onnx, opset, ...) \
  {onnx, {kOperands[arity], ExprOp::op}, opset, {}, import_apply},
      STREW_EXPR_OPS(STREW_ONNX_ROW)
#undef STREW_ONNX_ROW
          {"Cast", {"operand"}, 6, {"to", "saturate", {"round_mode", kText}}, import_cast},
      {"CastLike",
       {"operand operand"},
       15,
       {"saturate", {"round_mode", kText}},
       [](Node& node) { return cast_to(node, node[0], node.type(node[1]).dtype); }},
      {"Clip", {"operand min? max?"}, 6, {{"min", kNumber}, {"max", kNumber}}, import_clip},
      {"DequantizeLinear", {"operand operand operand?"}, 10, {"axis"}, import_dequantize},
      {"IsNaN", {"operand"}, 9, {}, import_is_nan},
      {"Max", {"operand...", ExprOp::max}, 8, {}, import_chain},
      {"Min", {"operand...", ExprOp::min}, 8, {}, import_chain},
      {"Mod", {"operand operand"}, 10, {"fmod"}, import_mod},
      {"Pow", {"operand operand"}, 7, {}, import_pow},
      {"QuantizeLinear", {"operand operand operand?"}, 10, {"axis"}, import_quantize},
      {"Reciprocal", {"operand"}, 6, {}, import_reciprocal},
      {"Relu", {"operand"}, 6, {}, [](Node& node) { return clamped(node.builder(), node[0], 0); }},
      {"Sum", {"operand...", ExprOp::add}, 8, {}, import_chain},
      // Of bool alone; those of integers have other names.
      {"And", {kOperands[2], ExprOp::bit_and}, 7, {}, import_apply},
      {"Not", {kOperands[1], ExprOp::bit_not}, 1, {}, import_apply},
      {"Or", {kOperands[2], ExprOp::bit_or}, 7, {}, import_apply},
      {"Where", {kOperands[3], ExprOp::select}, 9, {}, import_apply},
      {"Xor", {kOperands[2], ExprOp::bit_xor}, 7, {}, import_apply},
  };
  std::erase_if(all, [](const Operator& op) { return op.name.empty(); });
  return all;
}

}  // namespace strew::inline v0::onnx
