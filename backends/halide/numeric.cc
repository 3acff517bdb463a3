// See numeric.h. Tested by tests/differential, which compares every result with the reference.
#include "backends/halide/numeric.h"

#include "backends/lower/lower_numeric.h"
#include "compiler/op/expr_math.h"

namespace strew::inline v0 {
namespace {
using Halide::cast;
using Halide::Float;
using Halide::Int;
using Halide::UInt;
using lowered::Primitive;

HExpr as_unsigned(const HExpr& e) { return Halide::reinterpret(UInt(e.type().bits()), e); }
HExpr as_signed(const HExpr& e) { return Halide::reinterpret(Int(e.type().bits()), e); }
HExpr as_float(const HExpr& e) { return Halide::reinterpret(Float(e.type().bits()), e); }

Halide::Type type_of(lowered::Machine type) {
  return lowered::is_float(type) ? Float(width(type)) : UInt(width(type));  // UInt(1) is Halide's bool
}

HExpr has_nan_bits(const HExpr& x) {
  const int width = x.type().bits();
  const uint64_t infinity = width == 32 ? 0x7f800000u : uint64_t{0x7ff} << 52;
  const HExpr magnitude = as_unsigned(x) & unsigned_constant(width, (uint64_t{1} << (width - 1)) - 1);
  return as_signed(magnitude) >
         as_signed(unsigned_constant(width, infinity));  // x86 has vector comparisons of signed integers only
}

/// Floats are constants of their bits: Halide refuses a division by the constant 0.
HExpr constant(const lowered::Node& node) {
  const HExpr bits = unsigned_constant(width(node.type), node.bits);
  return lowered::is_float(node.type) ? as_float(bits) : bits;
}

HExpr call_math(const lowered::Node& node, const std::vector<HExpr>& arguments) {
  const MathFunction* row = find_math_function(node.function);
  const char* symbol = node.type == lowered::Machine::f32 ? row->symbol_f32 : row->symbol_f64;
  return Halide::Internal::Call::make(type_of(node.type), symbol, arguments, Halide::Internal::Call::PureExtern);
}

/// Of Halide's comparisons of floats only `<` is right for NaN: its simplifier turns x >= y into not x < y, and x == x into true.
HExpr arithmetic(Primitive op, const HExpr& x, const HExpr& y) {
  const bool real = x.type().is_float(), truth = x.type().is_bool();
  switch (op) {
    case Primitive::add:
      return x + y;
    case Primitive::sub:
      return x - y;
    case Primitive::mul:
      return x * y;
    case Primitive::fdiv:
    case Primitive::udiv:
      return x / y;
    case Primitive::urem:
      return x % y;
    case Primitive::bit_and:
      return truth ? x && y : x & y;
    case Primitive::bit_or:
      return truth ? x || y : x | y;
    case Primitive::bit_xor:
      return truth ? x != y : x ^ y;
    case Primitive::shl:
      return x << y;
    case Primitive::lshr:
      return x >> y;
    case Primitive::ashr:
      return as_unsigned(as_signed(x) >> y);
    case Primitive::eq:
      return real ? !has_nan_bits(x) && !has_nan_bits(y) && x == y : x == y;
    case Primitive::flt:
    case Primitive::ult:
      return x < y;
    case Primitive::slt:
      return as_signed(x) < as_signed(y);
      STREW_PRIMITIVE_SPECIAL(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_CASTS(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_FUNCTIONS(STREW_PRIMITIVE_CASE)
      STREW_COMPOUNDS(STREW_PRIMITIVE_CASE)
      break;
  }
  return {};
}

HExpr convert(Primitive op, const Halide::Type& type, const HExpr& x) {
  switch (op) {
    case Primitive::bitcast:
      return Halide::reinterpret(type, x);
    case Primitive::sext:
      if (x.type().is_bool())
        return Halide::select(x, unsigned_constant(type.bits(), ~uint64_t{0}), unsigned_constant(type.bits(), 0));
      return as_unsigned(cast(Int(type.bits()), as_signed(x)));
    case Primitive::itrunc:
    case Primitive::zext:
    case Primitive::fptrunc:
    case Primitive::fpext:
    case Primitive::uitofp:
    case Primitive::fptoui:
      return cast(type, x);
    case Primitive::sitofp:
      return cast(type, as_signed(x));
      STREW_PRIMITIVE_SPECIAL(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_ARITHMETIC(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_FUNCTIONS(STREW_PRIMITIVE_CASE)
      STREW_COMPOUNDS(STREW_PRIMITIVE_CASE)
      break;
  }
  return {};
}

/// Functions, and the compounds that are native.
HExpr function(Primitive op, const Halide::Type& type, const HExpr& x, const HExpr& y) {
  switch (op) {
    case Primitive::floor:
      return Halide::floor(x);
    case Primitive::ceil:
      return Halide::ceil(x);
    case Primitive::ftrunc:
      return Halide::trunc(x);
    case Primitive::roundeven:
      return Halide::round(x);
    case Primitive::sqrt:
      return Halide::sqrt(x);
    case Primitive::unordered:
      return x.same_as(y) ? has_nan_bits(x) : has_nan_bits(x) || has_nan_bits(y);
    case Primitive::popcount:
      return Halide::popcount(x);
    case Primitive::clz: {  // Halide's is undefined of 0
      const HExpr digits = unsigned_constant(type.bits(), static_cast<uint64_t>(type.bits())),
                  one = unsigned_constant(type.bits(), 1);
      return Halide::select(x == unsigned_constant(type.bits(), 0), digits, Halide::count_leading_zeros(x | one));
    }
    case Primitive::half_to_float:
      return cast(Float(32), as_float(x));
    case Primitive::float_to_half:
      // Halide makes one cast of two, and so one rounding of f64 to f32 to f16. LLVM removes the product.
      return as_unsigned(cast(Float(16), x * Halide::Internal::make_one(x.type())));
    case Primitive::sdiv:  // not among the natives
    case Primitive::srem:
    case Primitive::smin:
    case Primitive::smax:
    case Primitive::umin:
    case Primitive::umax:
    case Primitive::iabs:
    case Primitive::fneg:
    case Primitive::fabs:
    case Primitive::copysign:
    case Primitive::fmin:
    case Primitive::fmax:
    case Primitive::fma:
    case Primitive::round:
    case Primitive::fptosi_sat:
    case Primitive::fptoui_sat:
    case Primitive::code_to_float:
    case Primitive::float_to_code:
      STREW_PRIMITIVE_SPECIAL(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_ARITHMETIC(STREW_PRIMITIVE_CASE)
      STREW_PRIMITIVE_CASTS(STREW_PRIMITIVE_CASE)
      break;
  }
  return {};
}

/// A node other than an input, of its arguments.
HExpr compute(const lowered::Node& node, const HExpr& x, const HExpr& y, const HExpr& z) {
  switch (node.op) {
    case Primitive::constant:
      return constant(node);
    case Primitive::select:
      return Halide::select(x, y, z);
    case Primitive::call1:
      return call_math(node, {x});
    case Primitive::call2:
      return call_math(node, {x, y});
    case Primitive::call3:
      return call_math(node, {x, y, z});
    case Primitive::input:  // the caller's
      break;
      STREW_PRIMITIVE_ARITHMETIC(STREW_PRIMITIVE_CASE)
      return arithmetic(node.op, x, y);
      STREW_PRIMITIVE_CASTS(STREW_PRIMITIVE_CASE)
      return convert(node.op, type_of(node.type), x);
      STREW_PRIMITIVE_FUNCTIONS(STREW_PRIMITIVE_CASE)
      STREW_COMPOUNDS(STREW_PRIMITIVE_CASE)
      return function(node.op, type_of(node.type), x, y);
  }
  return {};
}

HExpr part(DType dtype, const Parts& element, int part) {
  HExpr bits = part == 0 || !element.b.defined() ? element.a : element.b;
  if (dtype == DType::complex64) bits = cast(UInt(32), part == 0 ? bits : bits >> unsigned_constant(64, 32));
  return lowered::is_float(lowered::part_type(dtype)) ? as_float(bits) : bits;
}

Parts whole(DType dtype, const HExpr& first, const HExpr& second) {
  const auto bits = [](const HExpr& e) { return e.type().is_float() ? as_unsigned(e) : e; };
  if (!second.defined()) return {bits(first), {}};
  if (dtype != DType::complex64) return {bits(first), bits(second)};
  return {cast(UInt(64), bits(first)) | (cast(UInt(64), bits(second)) << unsigned_constant(64, 32)), {}};
}

}  // namespace

HExpr unsigned_constant(int bits, uint64_t value) {
  return Halide::Internal::make_const(UInt(bits), value & (~uint64_t{0} >> (64 - bits)));
}

std::vector<Parts> evaluate(const Expr& expr, bool has_f16, const std::function<Parts(const lowered::Graph::Input&)>& load) {
  lowered::Natives natives{Primitive::unordered, Primitive::popcount, Primitive::clz};
  natives.set(Primitive::half_to_float, has_f16).set(Primitive::float_to_half, has_f16);
  const lowered::Graph graph = lower_numeric(expr, natives);
  std::vector<Parts> inputs, results;
  for (const lowered::Graph::Input& input : graph.inputs) inputs.push_back(load(input));
  std::vector<HExpr> values;
  const auto value = [&](int32_t node) { return node < 0 ? HExpr() : values[static_cast<size_t>(node)]; };
  for (const lowered::Node& node : graph.nodes) {
    const auto input = static_cast<size_t>(node.input);
    values.push_back(node.op == Primitive::input ? part(graph.inputs[input].dtype, inputs[input], node.part)
                                                 : compute(node, value(node.args[0]), value(node.args[1]), value(node.args[2])));
  }
  for (const lowered::Graph::Result& result : graph.results)
    results.push_back(result.moved >= 0 ? inputs[static_cast<size_t>(result.moved)]
                                        : whole(result.dtype, value(result.parts[0]), value(result.parts[1])));
  return results;
}

}  // namespace strew::inline v0
