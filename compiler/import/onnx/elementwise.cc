// The elementwise operators: arithmetic, comparisons, logic, casts, Where, Clip, and quantisation as ONNX defines it by these. Shapes are
// broadcast as NumPy does. Attributes that change what an operator means are read; an operator with an attribute that is not read here is
// refused, and becomes opaque. Tested by tests/unit/compiler/import/onnx/onnx_compute_test.cc,
// tests/unit/compiler/import/onnx/onnx_casts_test.cc and tests/models.
#include <cmath>

#include "base/number.h"
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/onnx.pb.h"
#include "compiler/import/onnx/tensor_proto.h"

namespace strew::inline v0::onnx {
namespace {

struct Row {
  std::string_view op_type;
  ExprOp op;
  int64_t min_opset;
};
/// ONNX's operators that are one operator of expressions; the rows without a name are of those that ONNX lacks.
constexpr Row kPlain[] = {
    // Of bool alone; those of integers have other names.
    {"And", ExprOp::bit_and, 7},
    {"Not", ExprOp::bit_not, 1},
    {"Or", ExprOp::bit_or, 7},
    {"Xor", ExprOp::bit_xor, 7},
#define STREW_ONNX_ROW(op, name, arity, arguments, result, onnx, opset, ...) {onnx, ExprOp::op, opset},
    STREW_EXPR_OPS(STREW_ONNX_ROW)
#undef STREW_ONNX_ROW
};

Expected<std::vector<int>> all_inputs(const Node& node) {
  std::vector<int> out;
  for (int i = 0; i < node.proto().input_size(); ++i) {
    STREW_ASSIGN(const int value, node.input(i, "operand"));
    out.push_back(value);
  }
  return out;
}

Status import_plain(Node& node) {
  const Row* row = kPlain;
  while (row->op_type != node.proto().op_type()) ++row;
  const int arity = info(row->op).arity;
  STREW_TRY(node.check_signature(arity, arity, 1, {}));
  STREW_ASSIGN(const std::vector<int> values, all_inputs(node));
  return node.give(node.builder().apply(row->op, values));
}

/// Max, Min and Sum of any number of tensors.
Status import_variadic(Node& node) {
  STREW_TRY(node.check_signature(1, 1 << 16, 1, {}));
  STREW_ASSIGN(const std::vector<int> values, all_inputs(node));
  const std::string& name = node.proto().op_type();
  const ExprOp op = name == "Max" ? ExprOp::max : name == "Min" ? ExprOp::min : ExprOp::add;
  int out = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    STREW_ASSIGN(out, node.builder().apply(op, {out, values[i]}));
  }
  return node.give(out);
}

Status import_where(Node& node) {
  STREW_TRY(node.check_signature(3, 3, 1, {}));
  STREW_ASSIGN(const std::vector<int> values, all_inputs(node));
  return node.give(node.builder().apply(ExprOp::select, values));
}

/// The remainder has the sign of the divisor, as in Python, unless fmod is 1: then that of the dividend, as in C.
Status import_mod(Node& node) {
  STREW_TRY(node.check_signature(2, 2, 1, {"fmod"}));
  STREW_ASSIGN(const std::vector<int> values, all_inputs(node));
  STREW_ASSIGN(const int64_t fmod, node.attribute("fmod", int64_t{0}));
  ProgramBuilder builder = node.builder();
  const DType dtype = builder.type(values[0]).dtype;
  if (fmod == 0 && is_float(dtype)) return node.error("fmod is 0 and the operands are floats, expected 1");
  Expected<int> rest = builder.apply(ExprOp::rem, values);
  if (fmod != 0 || !rest.ok() || is_unsigned_integer(dtype)) return node.give(rest);
  const int zero = builder.integer(0, dtype);
  STREW_ASSIGN(const int is_rest, builder.apply(ExprOp::ne, {*rest, zero}));
  STREW_ASSIGN(const int rest_is_negative, builder.apply(ExprOp::lt, {*rest, zero}));
  STREW_ASSIGN(const int divisor_is_negative, builder.apply(ExprOp::lt, {values[1], zero}));
  STREW_ASSIGN(const int differ, builder.apply(ExprOp::bit_xor, {rest_is_negative, divisor_is_negative}));
  STREW_ASSIGN(const int moves, builder.apply(ExprOp::bit_and, {is_rest, differ}));
  STREW_ASSIGN(const int moved, builder.apply(ExprOp::add, {*rest, values[1]}));
  return node.give(builder.apply(ExprOp::select, {moves, moved, *rest}));
}

/// Bounds are attributes before opset 11, and inputs since.
Status import_clip(Node& node) {
  STREW_TRY(node.check_signature(1, 3, 1, {"min", "max"}));
  STREW_ASSIGN(int value, node.input(0, "operand"));
  ProgramBuilder builder = node.builder();
  const auto bound = [&](int i, std::string_view name, ExprOp op) -> Status {
    int limit = -1;
    if (node.has_input(i)) {
      STREW_ASSIGN(limit, node.input(i, name));
    } else if (node.has_attribute(name)) {
      STREW_ASSIGN(const float number, node.float_attribute(name, 0.0F));
      limit = builder.scalar(Scalar::of(builder.type(value).dtype, static_cast<double>(number)));
    }
    if (limit < 0) return {};
    STREW_ASSIGN(value, builder.apply(op, {value, limit}));
    return {};
  };
  STREW_TRY(bound(1, "min", ExprOp::max));
  STREW_TRY(bound(2, "max", ExprOp::min));
  return node.give(value);
}

Status import_relu(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {}));
  STREW_ASSIGN(const int value, node.input(0, "operand"));
  ProgramBuilder builder = node.builder();
  return node.give(builder.apply(ExprOp::max, {value, builder.scalar(Scalar::of(builder.type(value).dtype, 0))}));
}

Status import_reciprocal(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {}));
  STREW_ASSIGN(const int value, node.input(0, "operand"));
  ProgramBuilder builder = node.builder();
  return node.give(builder.apply(ExprOp::div, {builder.scalar(Scalar::of(builder.type(value).dtype, 1)), value}));
}

Status import_pow(Node& node) {
  STREW_TRY(node.check_signature(2, 2, 1, {}));
  STREW_ASSIGN(const std::vector<int> values, all_inputs(node));
  ProgramBuilder builder = node.builder();
  STREW_ASSIGN(const int exponent, builder.convert(values[1], builder.type(values[0]).dtype));
  return node.give(builder.apply(ExprOp::pow, {values[0], exponent}));
}

Status import_is_nan(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {}));
  STREW_ASSIGN(const int value, node.input(0, "operand"));
  return node.give(node.builder().apply(ExprOp::ne, {value, value}));
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
Expected<int> clipped(ProgramBuilder builder, int value, double bound) {
  DType dtype = builder.type(value).dtype;
  if (dtype == DType::boolean) return value;
  if (is_float(dtype) && bits(dtype) <= 8) {  // it may have no code for the bound
    STREW_ASSIGN(value, builder.convert(value, DType::f32));
    dtype = DType::f32;
  }
  const bool has_sign = !is_unsigned_integer(dtype);
  const int digits = bits(dtype) - (has_sign ? 1 : 0);
  if (is_integer(dtype) && std::ldexp(1.0, digits) <= bound) return value;
  STREW_ASSIGN(value, builder.apply(ExprOp::min, {value, builder.scalar(Scalar::of(dtype, bound))}));
  return has_sign ? builder.apply(ExprOp::max, {value, builder.scalar(Scalar::of(dtype, -bound))}) : Expected<int>(value);
}

/// `value` as `dtype`. Conversions to f8 saturate unless the node says otherwise: beyond the largest finite value, that value. Conversions to
/// f8e8m0, which alone round_mode is about, are refused by the conversion itself, as those of every dtype without arithmetic are.
Expected<int> cast(const Node& node, int value, DType dtype) {
  STREW_ASSIGN(const int64_t saturate, node.attribute("saturate", int64_t{1}));
  STREW_ASSIGN(const std::string round_mode, node.attribute("round_mode", "up"));
  if (round_mode != "up" && round_mode != "down" && round_mode != "nearest")
    return invalid_argument("round_mode is '" + round_mode + "', expected up, down or nearest");
  ProgramBuilder builder = node.builder();
  const double bound = saturation_bound(dtype);
  if (saturate != 0 && bound > 0 && builder.type(value).dtype != dtype) {
    STREW_ASSIGN(value, clipped(builder, value, bound));
  }
  return builder.convert(value, dtype);
}

Status import_cast(Node& node) {
  STREW_TRY(node.check_signature(1, 1, 1, {"to", "saturate", "round_mode"}));
  STREW_ASSIGN(const int value, node.input(0, "operand"));
  STREW_ASSIGN(const int64_t to, node.attribute("to", int64_t{0}));
  if (to != static_cast<int32_t>(to))
    return node.error("attribute to is " + std::to_string(to) + ", expected an element type's number");
  STREW_ASSIGN(const DType dtype, element_type(static_cast<int32_t>(to), node.location() + ": attribute to"));
  const DType from = node.type(value).dtype;
  if (from == DType::string || dtype == DType::string) return node.error("it casts strings, expected numbers");
  ProgramBuilder builder = node.builder();
  // Any number but zero becomes true.
  if (dtype == DType::boolean && from != DType::boolean)
    return node.give(builder.apply(ExprOp::ne, {value, builder.scalar(Scalar::of(from, 0))}));
  return node.give(cast(node, value, dtype));
}

Status import_cast_like(Node& node) {
  STREW_TRY(node.check_signature(2, 2, 1, {"saturate", "round_mode"}));
  STREW_ASSIGN(const std::vector<int> values, all_inputs(node));
  return node.give(cast(node, values[0], node.type(values[1]).dtype));
}

/// A scale or zero point of rank 1 belongs to dim `axis`: with dims of 1 around it.
Expected<int> along_axis(Node& node, int parameter, int value) {
  ProgramBuilder builder = node.builder();
  const TensorType type = builder.type(parameter);
  if (type.rank() == 0 || (type.rank() == 1 && type.dims[0] == 1)) return builder.reshape(parameter, {});
  STREW_ASSIGN(const int64_t given, node.attribute("axis", int64_t{1}));
  STREW_ASSIGN(const int64_t axis, node.dim_of(given, builder.type(value).rank(), "axis"));
  if (type.rank() != 1) return unsupported("scales in blocks, expected one for the tensor or one for each element of a dim");
  std::vector<int64_t> dims(builder.type(value).dims.size(), 1);
  dims[static_cast<size_t>(axis)] = type.dims[0];
  return builder.reshape(parameter, std::move(dims));
}

/// saturate(round(x / scale) + zero_point)
Status import_quantize(Node& node) {
  STREW_TRY(node.check_signature(2, 3, 1, {"axis"}));
  STREW_ASSIGN(const std::vector<int> values, all_inputs(node));
  ProgramBuilder builder = node.builder();
  const DType computed = builder.type(values[0]).dtype;
  const DType dtype = values.size() > 2 ? builder.type(values[2]).dtype : DType::u8;
  if (!is_integer(dtype) || bits(dtype) > 16 || computed != DType::f32)
    return node.error("it makes " + std::string(name(dtype)) + " of " + std::string(name(computed)) +
                      ", expected integers of at most 16 bits of f32");
  STREW_ASSIGN(const int scale, along_axis(node, values[1], values[0]));
  STREW_ASSIGN(int out, builder.apply(ExprOp::div, {values[0], scale}));
  STREW_ASSIGN(out, builder.apply(ExprOp::round_half_even, {out}));
  if (values.size() > 2) {
    STREW_ASSIGN(const int zero_point, along_axis(node, values[2], values[0]));
    STREW_ASSIGN(const int wide, builder.convert(zero_point, computed));
    STREW_ASSIGN(out, builder.apply(ExprOp::add, {out, wide}));
  }
  const double least = is_signed_integer(dtype) ? -static_cast<double>(int64_t{1} << (bits(dtype) - 1)) : 0;
  const double most = least + static_cast<double>((int64_t{1} << bits(dtype)) - 1);
  STREW_ASSIGN(out, builder.apply(ExprOp::max, {out, builder.scalar(Scalar::of(computed, least))}));
  STREW_ASSIGN(out, builder.apply(ExprOp::min, {out, builder.scalar(Scalar::of(computed, most))}));
  return node.give(builder.convert(out, dtype));
}

/// (x - zero_point) * scale. The difference is exact: of integers in i32, of f8 and f4 in f32. The product is computed in f32, as ONNX's
/// reference does, and rounded once to the scale's dtype.
Status import_dequantize(Node& node) {
  STREW_TRY(node.check_signature(2, 3, 1, {"axis"}));
  STREW_ASSIGN(const std::vector<int> values, all_inputs(node));
  ProgramBuilder builder = node.builder();
  const DType from = builder.type(values[0]).dtype, result = builder.type(values[1]).dtype;
  const bool is_narrow_float = is_float(from) && bits(from) <= 8,
             is_whole = is_integer(from) && (bits(from) <= 16 || from == DType::i32);
  if ((!is_narrow_float && !is_whole) || (result != DType::f32 && result != DType::f16 && result != DType::bf16))
    return node.error("it makes " + std::string(name(result)) + " of " + std::string(name(from)) +
                      ", expected f32, f16 or bf16 of integers of at most 16 bits, i32, f8 or f4");
  const DType exact = is_whole ? DType::i32 : DType::f32;
  STREW_ASSIGN(int scale, along_axis(node, values[1], values[0]));
  STREW_ASSIGN(int out, builder.convert(values[0], exact));
  if (values.size() > 2) {
    STREW_ASSIGN(const int zero_point, along_axis(node, values[2], values[0]));
    STREW_ASSIGN(const int wide, builder.convert(zero_point, exact));
    STREW_ASSIGN(out, builder.apply(ExprOp::sub, {out, wide}));
  }
  STREW_ASSIGN(out, builder.convert(out, DType::f32));
  STREW_ASSIGN(scale, builder.convert(scale, DType::f32));
  STREW_ASSIGN(out, builder.apply(ExprOp::mul, {out, scale}));
  return node.give(builder.convert(out, result));
}

}  // namespace

const std::vector<Operator>& elementwise_operators() {
  static const auto& list = *new const std::vector<Operator>([] {
    std::vector<Operator> all = {
        {"Cast", "", 6, kEveryLater, import_cast},
        {"CastLike", "", 15, kEveryLater, import_cast_like},
        {"Clip", "", 6, kEveryLater, import_clip},
        {"DequantizeLinear", "", 10, kEveryLater, import_dequantize},
        {"IsNaN", "", 9, kEveryLater, import_is_nan},
        {"Max", "", 8, kEveryLater, import_variadic},
        {"Min", "", 8, kEveryLater, import_variadic},
        {"Mod", "", 10, kEveryLater, import_mod},
        {"Pow", "", 7, kEveryLater, import_pow},
        {"QuantizeLinear", "", 10, kEveryLater, import_quantize},
        {"Reciprocal", "", 6, kEveryLater, import_reciprocal},
        {"Relu", "", 6, kEveryLater, import_relu},
        {"Sum", "", 8, kEveryLater, import_variadic},
        {"Where", "", 9, kEveryLater, import_where},
    };
    for (const Row& row : kPlain)
      if (!row.op_type.empty()) all.push_back({row.op_type, "", row.min_opset, kEveryLater, import_plain});
    return all;
  }());
  return list;
}

}  // namespace strew::inline v0::onnx
