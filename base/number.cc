// See number.h. No result depends on the caller's floating-point environment: whatever rounds, or could flush a
// subnormal to zero, is computed in integers, and the doubles that remain hold numbers that no rounding mode changes.
//
// One routine does all rounding. round_to() takes a sign, a 64-bit significand and a power of two, so doubles and
// 64-bit integers are converted to every format by the same exact arithmetic, without another format in between.
//
// A float format is described by its row of the traits table. The code of a finite number is ((exponent + bias - 1)
// << mantissa_bits) + significand, where the significand includes its leading one. So subnormals, whose exponent is 1
// - bias, and a carry into the next binade need no special case, and a number overflows if its code is greater than
// the largest finite code.
//
// f8e8m0 follows ml_dtypes where that differs from round to nearest even: ties are rounded up, zero and negative
// numbers are NaN, and of the numbers below 2^-126 those up to 2^-127 become code 0. Tested by
// tests/unit/base/number_test, and by tests/oracle/narrow_floats against ml_dtypes for every code.
#include "base/number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace strew::inline v0 {
namespace {

uint64_t low_bits(int count) { return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

/// The bits that the float's codes use; the codes of f6 are stored in 8 bits.
int code_bits(const DTypeInfo& f) { return f.exponent_bits + f.mantissa_bits + (f.codes == FloatCodes::e8m0 ? 0 : 1); }
uint64_t sign_bit(const DTypeInfo& f) { return uint64_t{1} << (code_bits(f) - 1); }

uint64_t max_finite_code(const DTypeInfo& f) {
  const uint64_t all_ones = low_bits(f.exponent_bits + f.mantissa_bits);
  switch (f.codes) {
    case FloatCodes::ieee:
      return (low_bits(f.exponent_bits) << f.mantissa_bits) - 1;
    case FloatCodes::fn:
      return all_ones - 1;
    case FloatCodes::fnuz:
    case FloatCodes::finite:
      return all_ones;
    case FloatCodes::e8m0:  // rounded elsewhere
    case FloatCodes::opaque:
    case FloatCodes::none:
      break;
  }
  return all_ones;
}

uint64_t nan_code(const DTypeInfo& f, bool negative) {
  const uint64_t sign = negative ? sign_bit(f) : 0;
  switch (f.codes) {
    case FloatCodes::ieee:
      return sign | (low_bits(f.exponent_bits) << f.mantissa_bits) | (uint64_t{1} << (f.mantissa_bits - 1));
    case FloatCodes::fn:
      return sign | low_bits(f.exponent_bits + f.mantissa_bits);
    case FloatCodes::e8m0:
      return 0xff;
    case FloatCodes::fnuz:    // its only NaN
    case FloatCodes::finite:  // the code of -0 for a NaN of either sign, as in ml_dtypes
      return sign_bit(f);
    case FloatCodes::opaque:
    case FloatCodes::none:
      break;
  }
  return 0;
}

/// The code of infinity and of numbers that round to more than the largest finite number.
uint64_t overflow_code(const DTypeInfo& f, bool negative) {
  const uint64_t sign = negative ? sign_bit(f) : 0;
  switch (f.codes) {
    case FloatCodes::ieee:
      return sign | (low_bits(f.exponent_bits) << f.mantissa_bits);
    case FloatCodes::finite:
      return sign | max_finite_code(f);
    case FloatCodes::fn:
    case FloatCodes::fnuz:
    case FloatCodes::e8m0:
    case FloatCodes::opaque:
    case FloatCodes::none:
      break;
  }
  return nan_code(f, negative);
}

int leading_bit(uint64_t value) { return 63 - std::countl_zero(value); }

/// Rounds significand * 2^exponent, with significand != 0.
uint64_t round_to_e8m0(bool negative, uint64_t significand, int exponent) {
  if (negative) return 0xff;
  const int top = leading_bit(significand);
  const uint64_t rest = significand & low_bits(top);
  int code = top + exponent + 127;
  if (code < 0 || (code == 0 && rest == 0)) return 0;
  if (code == 0) return 1;
  if (top > 0 && (rest >> (top - 1)) != 0) ++code;
  return code > 0xfe ? 0xff : static_cast<uint64_t>(code);
}

/// Rounds (-1)^negative * significand * 2^exponent once, to nearest even.
uint64_t round_to(const DTypeInfo& f, bool negative, uint64_t significand, int exponent) {
  if (f.codes == FloatCodes::e8m0) return significand == 0 ? 0xff : round_to_e8m0(negative, significand, exponent);
  uint64_t code = 0;
  if (significand != 0) {
    const int binade = std::max(leading_bit(significand) + exponent, 1 - f.bias);
    const int dropped = binade - f.mantissa_bits - exponent;
    uint64_t kept = 0;
    if (dropped <= 0) {
      kept = significand << -dropped;
    } else if (dropped <= 64) {
      const uint64_t half = uint64_t{1} << (dropped - 1);
      const uint64_t rest = significand & low_bits(dropped);
      kept = dropped == 64 ? 0 : significand >> dropped;
      if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
    }  // if more than 64 bits are dropped, the value is below half of the last place
    code = (static_cast<uint64_t>(binade + f.bias - 1) << f.mantissa_bits) + kept;
    if (code > max_finite_code(f)) return overflow_code(f, negative);
  }
  if (code == 0 && f.codes == FloatCodes::fnuz) return 0;
  return code | (negative ? sign_bit(f) : 0);
}

uint64_t encode_float(const DTypeInfo& f, double value) {
  if (f.dtype == DType::f64) return std::bit_cast<uint64_t>(value);
  const auto raw = std::bit_cast<uint64_t>(value);
  const bool negative = (raw >> 63) != 0;
  const int field = static_cast<int>((raw >> 52) & 0x7ff);
  const uint64_t fraction = raw & low_bits(52);
  if (field == 0x7ff) return fraction != 0 ? nan_code(f, negative) : overflow_code(f, negative);
  if (field == 0) return round_to(f, negative, fraction, -1074);
  return round_to(f, negative, fraction | (uint64_t{1} << 52), field - 1075);
}

double decode_float(const DTypeInfo& f, uint64_t bits) {
  if (f.dtype == DType::f64) return std::bit_cast<double>(bits);
  constexpr uint64_t kF32Exponent = 0x7f800000;  // subnormals are left out: a processor may be set to read them as zero
  if (f.dtype == DType::f32 && (bits & kF32Exponent) != 0) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (f.codes == FloatCodes::e8m0)
    return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, static_cast<int>(bits) - 127);
  bits &= low_bits(code_bits(f));
  const bool negative = (bits & sign_bit(f)) != 0;
  const double sign = negative ? -1.0 : 1.0;
  const uint64_t magnitude = bits & (sign_bit(f) - 1);
  if (is_nan(f.dtype, bits)) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (magnitude > max_finite_code(f)) return sign * std::numeric_limits<double>::infinity();
  const int field = static_cast<int>(magnitude >> f.mantissa_bits);
  const uint64_t fraction = magnitude & low_bits(f.mantissa_bits);
  const uint64_t significand = field == 0 ? fraction : fraction | (uint64_t{1} << f.mantissa_bits);
  // The conversion is a signed one, because a compiler may implement one from uint64_t by a subtraction, which gives
  // -0 for 0 if the caller's rounding mode is downward.
  return sign * std::ldexp(static_cast<double>(static_cast<int64_t>(significand)), std::max(field, 1) - f.bias - f.mantissa_bits);
}

uint64_t encode_integer(const DTypeInfo& f, double value) {
  if (std::isnan(value)) return 0;
  const double truncated = std::trunc(value);
  if (f.kind == DTypeKind::signed_integer) {
    const double limit = std::ldexp(1.0, f.bits - 1);  // the largest value plus 1; its negative is the smallest value
    if (truncated >= limit) return low_bits(f.bits - 1);
    if (truncated < -limit) return uint64_t{1} << (f.bits - 1);
    return static_cast<uint64_t>(static_cast<int64_t>(truncated)) & low_bits(f.bits);
  }
  if (truncated >= std::ldexp(1.0, f.bits)) return low_bits(f.bits);
  return truncated <= 0 ? 0 : static_cast<uint64_t>(truncated);
}

bool is_real(DType dtype) { return !is_complex(dtype) && dtype != DType::string && info(dtype).codes != FloatCodes::opaque; }

uint64_t convert_real(DType from, uint64_t bits, DType to) {
  if (from == to) return bits;
  if (is_float(from)) return encode(to, decode(from, bits));
  if (from == DType::u64) return encode_u64(to, bits);
  return encode_i64(to, decode_i64(from, bits));
}

}  // namespace

double decode(DType dtype, uint64_t bits) {
  const DTypeInfo& row = info(dtype);
  if (row.kind == DTypeKind::floating) return row.codes == FloatCodes::opaque ? 0.0 : decode_float(row, bits);
  if (dtype == DType::u64) return std::bit_cast<double>(encode_u64(DType::f64, bits));
  return std::bit_cast<double>(encode_i64(DType::f64, decode_i64(dtype, bits)));
}

uint64_t encode(DType dtype, double value) {
  const DTypeInfo& row = info(dtype);
  switch (row.kind) {
    case DTypeKind::boolean:
      return (std::bit_cast<uint64_t>(value) << 1) != 0 ? 1 : 0;  // not a comparison, which may read a subnormal as zero
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      return encode_integer(row, value);
    case DTypeKind::floating:
      return row.codes == FloatCodes::opaque ? 0 : encode_float(row, value);
    case DTypeKind::complex:
    case DTypeKind::string:
      break;
  }
  return 0;
}

uint64_t encode_i64(DType dtype, int64_t value) {
  if (value >= 0 || !is_float(dtype)) return encode_u64(dtype, static_cast<uint64_t>(value));
  return info(dtype).codes == FloatCodes::opaque ? 0 : round_to(info(dtype), true, 0 - static_cast<uint64_t>(value), 0);
}

uint64_t encode_u64(DType dtype, uint64_t value) {
  const DTypeInfo& row = info(dtype);
  switch (row.kind) {
    case DTypeKind::boolean:
      return value != 0 ? 1 : 0;
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      return value & low_bits(row.bits);
    case DTypeKind::floating:
      return row.codes == FloatCodes::opaque ? 0 : round_to(row, false, value, 0);
    case DTypeKind::complex:
    case DTypeKind::string:
      break;
  }
  return 0;
}

int64_t decode_i64(DType dtype, uint64_t bits) {
  if (dtype == DType::boolean) return (bits & 0xff) != 0 ? 1 : 0;
  const int unused = 64 - info(dtype).bits;
  if (is_unsigned_integer(dtype)) return static_cast<int64_t>(bits << unused >> unused);
  return static_cast<int64_t>(bits << unused) >> unused;
}

DType part_dtype(DType dtype) {
  if (dtype == DType::complex64) return DType::f32;
  return dtype == DType::complex128 ? DType::f64 : dtype;
}

uint64_t real_bits(const Scalar& value) { return value.dtype == DType::complex64 ? value.bits[0] & 0xffffffff : value.bits[0]; }

uint64_t imaginary_bits(const Scalar& value) {
  if (value.dtype == DType::complex64) return value.bits[0] >> 32;
  return value.dtype == DType::complex128 ? value.bits[1] : 0;
}

Scalar make_complex(DType dtype, uint64_t real, uint64_t imaginary) {
  if (dtype == DType::complex64) return {dtype, {real | imaginary << 32, 0}};
  return {dtype, {real, imaginary}};
}

Scalar Scalar::of(DType dtype, double number) {
  const uint64_t code = encode(part_dtype(dtype), number);
  return is_complex(dtype) ? make_complex(dtype, code, 0) : Scalar{dtype, {code, 0}};
}

Scalar convert(const Scalar& value, DType dtype) {
  if (value.dtype == dtype) return value;
  const DType from = part_dtype(value.dtype), to = part_dtype(dtype);
  if (!is_real(from) || !is_real(to)) return {dtype, {0, 0}};
  const uint64_t real = convert_real(from, real_bits(value), to);
  if (is_complex(dtype))
    return make_complex(dtype, real, is_complex(value.dtype) ? convert_real(from, imaginary_bits(value), to) : 0);
  if (dtype == DType::boolean && is_complex(value.dtype))
    return {dtype, {real | convert_real(from, imaginary_bits(value), to), 0}};
  return {dtype, {real, 0}};
}

bool is_nan(DType dtype, uint64_t bits) {
  const DTypeInfo& f = info(dtype);
  switch (f.codes) {
    case FloatCodes::ieee:
      return (bits & (sign_bit(f) - 1)) > (low_bits(f.exponent_bits) << f.mantissa_bits);
    case FloatCodes::fn:
      return (bits & (sign_bit(f) - 1)) == low_bits(f.exponent_bits + f.mantissa_bits);
    case FloatCodes::fnuz:
      return bits == sign_bit(f);
    case FloatCodes::e8m0:
      return bits == 0xff;
    case FloatCodes::finite:
    case FloatCodes::opaque:
    case FloatCodes::none:
      break;
  }
  return false;
}

bool same_value(const Scalar& a, const Scalar& b) {
  if (a == b) return true;
  if (a.dtype != b.dtype) return false;
  const DType part = part_dtype(a.dtype);
  const auto same = [part](uint64_t x, uint64_t y) { return x == y || (is_nan(part, x) && is_nan(part, y)); };
  if (a.dtype == DType::string) return false;
  return same(real_bits(a), real_bits(b)) && same(imaginary_bits(a), imaginary_bits(b));
}

Scalar load_element(DType dtype, const void* base, int64_t index) {
  const int width = bits(dtype);
  const auto* bytes = static_cast<const unsigned char*>(base);
  Scalar value{dtype, {0, 0}};
  if (width >= 8) {
    std::memcpy(value.bits.data(), bytes + index * (width / 8), static_cast<size_t>(width / 8));
  } else {
    const int64_t bit = index * width;  // >> is a floor division, so negative indices work
    value.bits[0] = (static_cast<uint64_t>(bytes[bit >> 3]) >> (bit & 7)) & low_bits(width);
  }
  return value;
}

void store_element(DType dtype, void* base, int64_t index, const Scalar& value) {
  const int width = bits(dtype);
  auto* bytes = static_cast<unsigned char*>(base);
  if (width >= 8) {
    std::memcpy(bytes + index * (width / 8), value.bits.data(), static_cast<size_t>(width / 8));
  } else {
    const int64_t bit = index * width;
    const auto mask = static_cast<unsigned char>(low_bits(width) << (bit & 7));
    unsigned char& byte = bytes[bit >> 3];
    byte = static_cast<unsigned char>((byte & ~mask) | ((value.bits[0] << (bit & 7)) & mask));
  }
}

}  // namespace strew::inline v0
