// See numeric.h. This file has storage and compute forms, and conversions. The methods are those of backends/llvm/compute/numeric.cc, so both
// backends give the same bits. Tested by tests/differential, which compares each with the reference.
#include "backends/halide/numeric.h"

#include <cmath>

#include "backends/halide/numeric_bits.h"

namespace strew::inline v0 {
using namespace halide_bits;
using Halide::cast;
using Halide::Float;
using Halide::Int;
using Halide::UInt;

namespace {

DType part_dtype(DType dtype) { return dtype == DType::complex64 ? DType::f32 : DType::f64; }

}  // namespace

HExpr unsigned_constant(int bits, uint64_t value) { return Halide::Internal::make_const(UInt(bits), value); }

Parts HalideNumeric::decode(DType dtype, const Parts& storage) const {
  const HExpr& s = storage.a;
  switch (dtype) {
    case DType::boolean:
      return {s != constant(s, 0), {}};
    case DType::bf16:
      return {as_float(cast(UInt(32), s) << unsigned_constant(32, 16)), {}};
    case DType::f16:
      if (!f16c_) return {decode_small(dtype, s), {}};
      return {cast(Float(32), as_float(s)), {}};
    case DType::f32:
    case DType::f64:
      return {as_float(s), {}};
    case DType::complex64:
      return {as_float(cast(UInt(32), s)), as_float(cast(UInt(32), s >> constant(s, 32)))};
    case DType::complex128:
      return {as_float(s), as_float(storage.b)};
    case STREW_EACH_DTYPE(SMALL_FLOAT):
      return {decode_small(dtype, s), {}};
    case STREW_EACH_DTYPE(PACKED_INTEGER):
    case STREW_EACH_DTYPE(INTEGER):
    case STREW_EACH_DTYPE(STRING):
      break;
  }
  return {extended(dtype, s), {}};
}

Parts HalideNumeric::encode(DType dtype, const Parts& compute) const {
  const HExpr& c = compute.a;
  switch (dtype) {
    case DType::boolean:
      return {cast(UInt(8), c), {}};
    case DType::bf16:
      return {to_bf16(c), {}};
    case DType::f16:
      if (!f16c_) return {encode_small(dtype, c), {}};
      return {as_unsigned(cast(Float(16), c)), {}};
    case DType::f32:
    case DType::f64:
      return {as_unsigned(c), {}};
    case DType::complex64: {
      const HExpr high = cast(UInt(64), as_unsigned(compute.b));
      return {cast(UInt(64), as_unsigned(c)) | (high << constant(high, 32)), {}};
    }
    case DType::complex128:
      return {as_unsigned(c), as_unsigned(compute.b)};
    case STREW_EACH_DTYPE(SMALL_FLOAT):
      return {encode_small(dtype, c), {}};
    case STREW_EACH_DTYPE(PACKED_INTEGER):
      return {c & constant(c, (uint64_t{1} << bits(dtype)) - 1), {}};
    case STREW_EACH_DTYPE(INTEGER):
    case STREW_EACH_DTYPE(STRING):
      break;
  }
  return {c, {}};
}

Parts HalideNumeric::literal_storage(const Scalar& scalar) const {
  const int width = bits(scalar.dtype);
  if (width <= 64) return {unsigned_constant(container(scalar.dtype), scalar.bits[0]), {}};
  return {unsigned_constant(64, scalar.bits[0]), unsigned_constant(64, scalar.bits[1])};
}

Parts HalideNumeric::choose(DType dtype, const HExpr& condition, const Parts& a, const Parts& b) const {
  Parts out = {Halide::select(condition, a.a, b.a), {}};
  if (bits(dtype) > 64) out.b = Halide::select(condition, a.b, b.b);
  return out;
}

HExpr HalideNumeric::to_bf16(const HExpr& value) const {
  const HExpr bits = as_unsigned(value);
  const HExpr lowest = (bits >> constant(bits, 16)) & constant(bits, 1);
  const HExpr rounded = bits + (lowest + constant(bits, 0x7fff));
  const HExpr chosen = Halide::select(nan_bits(value), bits | constant(bits, 0x400000), rounded);
  return cast(UInt(16), chosen >> constant(bits, 16));
}

/// Rounds a double to an f32 by round to odd: a double that no f32 equals becomes the neighbour whose last bit is 1. Rounding the result to 16 bits
/// or less then gives what one rounding from the exact value would.
HExpr HalideNumeric::odd_float(const HExpr& value) const {
  const HExpr nearest = cast(Float(32), value), back = cast(Float(64), nearest);
  const HExpr too_far = magnitude(back) > magnitude(value);
  const HExpr inexact = as_unsigned(back) != as_unsigned(value);
  const HExpr toward_zero = as_unsigned(nearest) - cast(UInt(32), too_far);
  return as_float(Halide::select(nan_bits(value), as_unsigned(nearest), toward_zero | cast(UInt(32), inexact)));
}

HExpr HalideNumeric::int_to_float(DType from, DType to, const HExpr& value) const {
  const bool is_signed = is_signed_integer(from);
  const auto direct = [&](const HExpr& v, int width) { return cast(Float(width), is_signed ? as_signed(v) : v); };
  if (to == DType::f64) return direct(value, 64);
  if (to == DType::f32 || bits(from) <= 16) return direct(value, 32);
  HExpr folded = value;
  if (bits(from) == 64) {
    // From 2^53 on, a double cannot hold all bits. So the lowest 11 are cleared first, and the bit above them is set if any of them was.
    const HExpr negated = constant(value, 0) - value;
    const HExpr size = is_signed ? Halide::select(as_signed(value) < 0, negated, value) : value;
    const HExpr low = value & constant(value, 0x7ff);
    const HExpr sticky = Halide::select(low != constant(low, 0), constant(value, 0x800), constant(value, 0));
    const HExpr whole = (value & constant(value, ~uint64_t{0x7ff})) | sticky;
    folded = Halide::select(size >= constant(value, uint64_t{1} << 53), whole, value);
  }
  return odd_float(direct(folded, 64));
}

/// Rounds toward zero and saturates; NaN gives 0.
HExpr HalideNumeric::float_to_int(DType to, const HExpr& value) const {
  const int width = bits(to), held = container(to);
  const bool is_signed = is_signed_integer(to);
  const auto number = [&](double v) { return Halide::Internal::make_const(value.type(), v); };
  const HExpr beyond = number(std::ldexp(1.0, is_signed ? width - 1 : width));
  const HExpr below = number(is_signed ? -std::ldexp(1.0, width - 1) : -1.0);
  const HExpr safe = Halide::select(below < value && value < beyond, value, number(0.0));
  // The magnitude is converted, and the sign applied afterwards. A cast to a signed and then to an unsigned integer would not do: Halide folds the
  // two into one cast from float to unsigned, which is undefined for negative values.
  HExpr inside = cast(UInt(held), is_signed ? as_float(magnitude(safe)) : safe);
  if (is_signed) inside = Halide::select(safe < number(0.0), constant(inside, 0) - inside, inside);
  const uint64_t ones = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const HExpr most = constant(inside, is_signed ? ones >> 1 : ones);
  const HExpr least = is_signed ? constant(inside, ~(ones >> 1)) : constant(inside, 0);
  const HExpr number_or_end = Halide::select(value < beyond, Halide::select(below < value, inside, least), most);
  return Halide::select(nan_bits(value), constant(inside, 0), number_or_end);
}

Parts HalideNumeric::convert(DType from, DType to, const Parts& value) const {
  if (from == to) return value;
  if (is_complex(to)) {
    const DType part = part_dtype(to);
    if (is_complex(from))
      return {convert(part_dtype(from), part, {value.a, {}}).a, convert(part_dtype(from), part, {value.b, {}}).a};
    const HExpr re = convert(from, part, value).a;
    return {re, as_float(unsigned_constant(re.type().bits(), 0))};
  }
  const HExpr& v = value.a;
  const bool from_float = is_float(from);
  if (to == DType::boolean) {
    const HExpr held = from_float ? magnitude(v) : v;
    return {held != constant(held, 0), {}};
  }
  if (from == DType::boolean) {
    const HExpr bit = cast(UInt(8), v);
    if (is_float(to)) return {cast(to == DType::f64 ? Float(64) : Float(32), bit), {}};
    return {extended(to, cast(UInt(container(to)), bit)), {}};
  }
  if (!from_float && !is_float(to)) {
    const int width = container(to);
    if (width <= container(from)) return {extended(to, cast(UInt(width), v)), {}};
    return {is_signed_integer(from) ? as_unsigned(cast(Int(width), as_signed(v))) : cast(UInt(width), v), {}};
  }
  if (!from_float) return {int_to_float(from, to, v), {}};
  if (!is_float(to)) return {float_to_int(to, v), {}};
  if (from == DType::f64) return {to == DType::f32 ? cast(Float(32), v) : odd_float(v), {}};
  return {to == DType::f64 ? cast(Float(64), v) : v, {}};
}

Parts HalideNumeric::bitcast(DType from, DType to, const Parts& compute) const { return decode(to, encode(from, compute)); }

}  // namespace strew::inline v0
