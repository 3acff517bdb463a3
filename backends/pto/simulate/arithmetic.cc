// See arithmetic.h. Floats narrower than f32 are computed in double, which has so many significant bits that rounding
// its result to the narrow type gives the same bits as rounding the exact result once. Tested by
// tests/unit/backends/pto/simulate/pto_simulate_test.cc.
#include "backends/pto/simulate/arithmetic.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/number.h"

namespace strew::inline v0::pto {
namespace {

uint64_t mask_of(DType dtype) { return bits(dtype) == 64 ? ~uint64_t{0} : (uint64_t{1} << bits(dtype)) - 1; }

uint64_t integer(TileCompute what, DType dtype, uint64_t a, uint64_t b) {
  const uint64_t mask = mask_of(dtype);
  const bool is_signed = is_signed_integer(dtype);
  const int64_t x = decode_i64(dtype, a), y = decode_i64(dtype, b);
  const bool less = is_signed ? x < y : a < b;
  const auto width = static_cast<uint64_t>(bits(dtype));
  switch (what) {
    case TileCompute::add:
      return (a + b) & mask;
    case TileCompute::sub:
      return (a - b) & mask;
    case TileCompute::mul:
      return (a * b) & mask;
    case TileCompute::div:
      if (b == 0) return mask;
      if (is_signed && y == -1) return (uint64_t{0} - a) & mask;
      return (is_signed ? static_cast<uint64_t>(x / y) : a / b) & mask;
    case TileCompute::max:
      return less ? b : a;
    case TileCompute::min:
      return less ? a : b;
    case TileCompute::bit_and:
      return a & b;
    case TileCompute::bit_or:
      return a | b;
    case TileCompute::bit_xor:
      return a ^ b;
    case TileCompute::shift_left:
      return b >= width ? 0 : (a << b) & mask;
    case TileCompute::shift_right:
      if (is_signed) return static_cast<uint64_t>(x >> (b >= width ? width - 1 : b)) & mask;
      return b >= width ? 0 : a >> b;
    case TileCompute::negate:
      return (uint64_t{0} - a) & mask;
    case TileCompute::bit_not:
      return ~a & mask;
    case TileCompute::move:
    case TileCompute::fill:
      return a;
    case TileCompute::none:  // not of two numbers
    case TileCompute::convert:
    case TileCompute::compare:
    case TileCompute::select:
    case TileCompute::sequence:
      break;
  }
  return a;
}

template <typename T>
T floating(TileCompute what, T x, T y) {
  switch (what) {
    case TileCompute::add:
      return x + y;
    case TileCompute::sub:
      return x - y;
    case TileCompute::mul:
      return x * y;
    case TileCompute::div:
      return x / y;
    case TileCompute::max:
    case TileCompute::min:
      if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<T>::quiet_NaN();
      if (x == y) return std::signbit(x) == (what == TileCompute::max) ? y : x;
      return (x < y) == (what == TileCompute::max) ? y : x;
    case TileCompute::negate:
      return -x;
    case TileCompute::move:
    case TileCompute::fill:
      return x;
    case TileCompute::bit_and:  // of integers
    case TileCompute::bit_or:
    case TileCompute::bit_xor:
    case TileCompute::bit_not:
    case TileCompute::shift_left:
    case TileCompute::shift_right:
    case TileCompute::none:  // not of two numbers
    case TileCompute::convert:
    case TileCompute::compare:
    case TileCompute::select:
    case TileCompute::sequence:
      break;
  }
  return x;
}

double rounded(double value, std::string_view mode) {
  if (mode == "FLOOR") return std::floor(value);
  if (mode == "CEIL") return std::ceil(value);
  if (mode == "TRUNC") return std::trunc(value);
  if (mode == "ROUND") return std::round(value);
  const double floor = std::floor(value), rest = value - floor;
  if (rest != 0.5) return rest < 0.5 ? floor : floor + 1;
  return std::fmod(floor, 2) == 0 ? floor : floor + 1;
}

}  // namespace

uint64_t compute(TileCompute what, DType dtype, uint64_t a, uint64_t b) {
  if (what == TileCompute::move || what == TileCompute::fill) return a;
  if (!is_float(dtype)) return integer(what, dtype, a, b);
  if (dtype == DType::f32) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(a)), y = std::bit_cast<float>(static_cast<uint32_t>(b));
    return std::bit_cast<uint32_t>(floating(what, x, y));
  }
  return encode(dtype, floating(what, decode(dtype, a), decode(dtype, b)));
}

uint64_t convert(DType from, DType to, uint64_t code, std::string_view mode, bool saturates) {
  if (is_float(to)) return is_float(from) ? encode(to, decode(from, code)) : encode_i64(to, decode_i64(from, code));
  if (!is_float(from) && !saturates) return code & mask_of(to);
  const int width = bits(to) - (is_signed_integer(to) ? 1 : 0);
  const double high = std::ldexp(1.0, width) - 1, low = is_signed_integer(to) ? -std::ldexp(1.0, width) : 0;
  if (!is_float(from)) {
    const int64_t value = decode_i64(from, code);
    const auto top = static_cast<int64_t>((uint64_t{1} << (width == 64 ? 63 : width)) - 1);
    const int64_t bottom = is_signed_integer(to) ? -top - 1 : 0;
    return static_cast<uint64_t>(value < bottom ? bottom : value > top ? top : value) & mask_of(to);
  }
  const double value = rounded(decode(from, code), mode);
  if (std::isnan(value)) return 0;
  const double kept = value < low ? low : value > high ? high : value;
  return encode(to, kept);
}

bool compare(std::string_view mode, DType dtype, uint64_t a, uint64_t b) {
  bool less = false, equal = false;
  if (is_float(dtype)) {
    less = decode(dtype, a) < decode(dtype, b);
    equal = decode(dtype, a) == decode(dtype, b);
    if (mode == "gt") return decode(dtype, a) > decode(dtype, b);
    if (mode == "ge") return decode(dtype, a) >= decode(dtype, b);
  } else {
    less = is_signed_integer(dtype) ? decode_i64(dtype, a) < decode_i64(dtype, b) : a < b;
    equal = a == b;
  }
  if (mode == "eq") return equal;
  if (mode == "ne") return !equal;
  if (mode == "lt") return less;
  if (mode == "le") return less || equal;
  return mode == "gt" ? !less && !equal : !less;
}

}  // namespace strew::inline v0::pto
