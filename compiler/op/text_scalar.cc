// Prints and parses a Scalar, bit for bit.
//
// Integers are decimal, bool is true or false, floats are the shortest decimal that reads back as the same bits,
// complex numbers are (re,im). Values without such a decimal (NaN, infinities, hif8, e8m0, strings, a bool that is
// neither 0 nor 1) are written as 0x and the bits, with all digits of the dtype's width. The parser takes 0x and bits
// for every dtype, and inf, -inf and nan for dtypes that have them. Narrow floats are parsed through double, so a
// decimal of more than 17 digits may be rounded twice; print() writes no such decimals. Tested by
// tests/unit/compiler/op/op_text_test.cc.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <system_error>

#include "base/fp_environment.h"
#include "base/number.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

uint64_t low_mask(int width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

/// Are all bits beyond the dtype's width zero?
bool fits(const Scalar& s) {
  const int width = bits(s.dtype);
  return (s.bits[0] & ~low_mask(width)) == 0 && (width > 64 ? true : s.bits[1] == 0);
}

std::string hex(const Scalar& s) {
  static constexpr char kDigits[] = "0123456789abcdef";
  int digits = (bits(s.dtype) + 3) / 4;
  if (!fits(s)) digits = 32;  // not a value of the dtype: print all bits, which the parser refuses
  std::string out = "0x";
  for (int d = digits - 1; d >= 0; --d) out += kDigits[(s.bits[static_cast<size_t>(d / 16)] >> (d % 16 * 4)) & 15];
  return out;
}

template <class T>
std::string shortest(T value) {
  char buffer[64];
  const std::to_chars_result r = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, r.ptr};
}

/// Are finite values of this float dtype printed as decimals?
bool has_decimal(DType dtype) {
  const FloatCodes codes = info(dtype).codes;
  return codes != FloatCodes::none && codes != FloatCodes::e8m0 && codes != FloatCodes::opaque;
}

std::string print_float(const Scalar& s) {
  if (s.dtype == DType::f32) {
    float v;
    const auto b = static_cast<uint32_t>(s.bits[0]);
    std::memcpy(&v, &b, sizeof v);
    return std::isfinite(v) ? shortest(v) : hex(s);
  }
  if (s.dtype == DType::f64) {
    double v;
    std::memcpy(&v, &s.bits[0], sizeof v);
    return std::isfinite(v) ? shortest(v) : hex(s);
  }
  if (!has_decimal(s.dtype)) return hex(s);
  const double v = decode(s.dtype, s.bits[0]);
  if (!std::isfinite(v)) return hex(s);
  for (int precision = 1; precision <= 17; ++precision) {
    char buffer[64];
    const char* end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::general, precision).ptr;
    double back = 0;
    std::from_chars(buffer, end, back);
    if (encode(s.dtype, back) == s.bits[0]) return shortest(back);
  }
  return hex(s);
}

Scalar part_of(const Scalar& s, bool imaginary) {
  if (s.dtype == DType::complex128) return {DType::f64, {s.bits[imaginary ? 1 : 0], 0}};
  return {DType::f32, {(s.bits[0] >> (imaginary ? 32 : 0)) & low_mask(32), 0}};
}

Status bad(std::string_view text, DType dtype, const std::string& expected) {
  return invalid_argument("scalar \"" + std::string(text.substr(0, 80)) + "\": expected " + expected + " for " +
                          std::string(name(dtype)));
}

Expected<Scalar> parse_hex(std::string_view text, DType dtype) {
  Scalar s{dtype, {0, 0}};
  const std::string_view digits = text.substr(2);
  if (digits.empty() || digits.size() > 32) return bad(text, dtype, "0x and 1 to 32 hex digits");
  for (char c : digits) {
    int digit = -1;
    if (c >= '0' && c <= '9') digit = c - '0';
    if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
    if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
    if (digit < 0) return bad(text, dtype, "0x and 1 to 32 hex digits");
    s.bits[1] = s.bits[1] << 4 | s.bits[0] >> 60;
    s.bits[0] = s.bits[0] << 4 | static_cast<uint64_t>(digit);
  }
  if (!fits(s)) return bad(text, dtype, "at most " + std::to_string(bits(dtype)) + " bits");
  return s;
}

template <class T>
Expected<Scalar> parse_integer(std::string_view text, DType dtype, T low, T high) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return bad(text, dtype, "an integer from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return Scalar{dtype, {static_cast<uint64_t>(value) & low_mask(bits(dtype)), 0}};
}

template <class T, class Bits>
Expected<Scalar> parse_native(std::string_view text, DType dtype) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return bad(text, dtype, "a decimal number in range, inf, nan, or 0x and the bits");
  }
  Bits b;
  std::memcpy(&b, &value, sizeof b);
  return Scalar{dtype, {b, 0}};
}

/// Parses inf, -inf and nan, if the dtype has them.
Expected<Scalar> parse_special(std::string_view text, DType dtype) {
  const DTypeInfo& row = info(dtype);
  const bool wants_nan = text == "nan";
  const bool has = wants_nan ? row.codes != FloatCodes::finite && row.codes != FloatCodes::opaque : row.codes == FloatCodes::ieee;
  if (!has) return bad(text, dtype, "a finite number, there is no " + std::string(text) + ",");
  const double inf = std::numeric_limits<double>::infinity();
  return Scalar{dtype, {encode(dtype, wants_nan ? std::numeric_limits<double>::quiet_NaN() : text[0] == '-' ? -inf : inf), 0}};
}

Expected<Scalar> parse_float(std::string_view text, DType dtype) {
  if (text == "inf" || text == "-inf" || text == "nan") return parse_special(text, dtype);
  if (dtype == DType::f32) return parse_native<float, uint32_t>(text, dtype);
  if (dtype == DType::f64) return parse_native<double, uint64_t>(text, dtype);
  if (!has_decimal(dtype)) return bad(text, dtype, "0x and the bits");
  STREW_ASSIGN(const Scalar wide, (parse_native<double, uint64_t>(text, DType::f64)));
  double value;
  std::memcpy(&value, &wide.bits[0], sizeof value);
  const uint64_t code = encode(dtype, value);
  if (!std::isfinite(decode(dtype, code))) return bad(text, dtype, "a number in range");
  return Scalar{dtype, {code, 0}};
}

Expected<Scalar> parse_complex(std::string_view text, DType dtype) {
  const size_t comma = text.find(',');
  if (text.size() < 5 || text.front() != '(' || text.back() != ')' || comma == std::string_view::npos) {
    return bad(text, dtype, "(re,im)");
  }
  const DType part = dtype == DType::complex64 ? DType::f32 : DType::f64;
  STREW_ASSIGN(const Scalar re, parse_scalar(text.substr(1, comma - 1), part));
  STREW_ASSIGN(const Scalar im, parse_scalar(text.substr(comma + 1, text.size() - comma - 2), part));
  if (dtype == DType::complex64) return Scalar{dtype, {re.bits[0] | im.bits[0] << 32, 0}};
  return Scalar{dtype, {re.bits[0], im.bits[0]}};
}

}  // namespace

std::string print(const Scalar& s) {
  if (!s.has_value()) return "none";
  if (!fits(s)) return hex(s);
  const FpEnvironment environment(is_float(s.dtype) || is_complex(s.dtype));
  switch (info(s.dtype).kind) {
    case DTypeKind::boolean:
      return s.bits[0] > 1 ? hex(s) : s.bits[0] == 1 ? "true" : "false";
    case DTypeKind::unsigned_integer:
      return std::to_string(s.bits[0]);
    case DTypeKind::signed_integer: {
      const int unused = 64 - bits(s.dtype);
      return std::to_string(static_cast<int64_t>(s.bits[0] << unused) >> unused);
    }
    case DTypeKind::floating:
      return print_float(s);
    case DTypeKind::complex:
      return "(" + print(part_of(s, false)) + "," + print(part_of(s, true)) + ")";
    case DTypeKind::string:
      return hex(s);
  }
  return hex(s);
}

Expected<Scalar> parse_scalar(std::string_view text, DType dtype) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.size() > 512) return bad(text, dtype, "at most 512 characters");
  if (text.substr(0, 2) == "0x") return parse_hex(text, dtype);
  const FpEnvironment environment(is_float(dtype) || is_complex(dtype));  // from_chars obeys the caller's rounding mode
  const int width = bits(dtype);
  switch (info(dtype).kind) {
    case DTypeKind::boolean:
      if (text == "true" || text == "1") return Scalar{dtype, {1, 0}};
      if (text == "false" || text == "0") return Scalar{dtype, {0, 0}};
      return bad(text, dtype, "true or false");
    case DTypeKind::signed_integer: {
      const auto high = static_cast<int64_t>(low_mask(width - 1));
      return parse_integer<int64_t>(text, dtype, -high - 1, high);
    }
    case DTypeKind::unsigned_integer:
      return parse_integer<uint64_t>(text, dtype, 0, low_mask(width));
    case DTypeKind::floating:
      return parse_float(text, dtype);
    case DTypeKind::complex:
      return parse_complex(text, dtype);
    case DTypeKind::string:
      return bad(text, dtype, "0x and the bits");
  }
  return bad(text, dtype, "a value");
}

}  // namespace strew::inline v0
