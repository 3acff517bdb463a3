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
#include <limits>
#include <string>
#include <system_error>

#include "base/fp_environment.h"
#include "base/number.h"
#include "compiler/op/message.h"
#include "compiler/op/verify_common.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

std::string hex(const Scalar& s) {
  // Not a value of the dtype: print all bits, which the parser refuses.
  const int digits = fits(s) ? (bits(s.dtype) + 3) / 4 : 32;
  return "0x" + fmt::format("{:016x}{:016x}", s.bits[1], s.bits[0]).substr(static_cast<size_t>(32 - digits));
}

template <class T>
std::string shortest(T value) {
  char buffer[64];
  const std::to_chars_result r = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, r.ptr};
}

/// The number that is the whole text, of the base or format `how`; nothing if there is none, or if T does not hold it.
template <class T, class... How>
std::optional<T> number(std::string_view text, How... how) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, how...);
  return error == std::errc() && end == text.data() + text.size() ? std::optional<T>(value) : std::nullopt;
}

/// Are finite values of this float dtype printed as decimals?
bool has_decimal(DType dtype) {
  const FloatCodes codes = info(dtype).codes;
  return codes != FloatCodes::none && codes != FloatCodes::e8m0 && codes != FloatCodes::opaque;
}

std::string print_float(const Scalar& s) {
  const double value = has_decimal(s.dtype) ? decode(s.dtype, s.bits[0]) : std::numeric_limits<double>::infinity();
  if (!std::isfinite(value)) return hex(s);
  if (s.dtype == DType::f64) return shortest(value);
  if (s.dtype == DType::f32) return shortest(static_cast<float>(value));
  for (int precision = 1; precision <= 17; ++precision) {
    char buffer[64];
    const char* end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, precision).ptr;
    const double back = number<double>({buffer, end}).value_or(0);
    if (encode(s.dtype, back) == s.bits[0]) return shortest(back);
  }
  return hex(s);
}

Status bad(std::string_view text, DType dtype, std::string_view expected) {
  return invalid_argument(message("scalar \"{}\": expected {} for {}", text.substr(0, 80), expected, dtype));
}

Expected<Scalar> parse_hex(std::string_view text, DType dtype) {
  const std::string_view digits = text.substr(2),
                         high_digits = digits.substr(0, digits.size() - std::min<size_t>(digits.size(), 16));
  const auto high = high_digits.empty() ? 0 : number<uint64_t>(high_digits, 16);
  const auto low = number<uint64_t>(digits.substr(high_digits.size()), 16);
  if (!high || !low || digits.size() > 32) return bad(text, dtype, "0x and 1 to 32 hex digits");
  const Scalar s{dtype, {*low, *high}};
  return fits(s) ? Expected<Scalar>(s) : bad(text, dtype, message("at most {} bits", bits(dtype)));
}

template <class T>
Expected<Scalar> parse_integer(std::string_view text, DType dtype, T low, T high) {
  const std::optional<T> value = number<T>(text);
  if (!value || *value < low || *value > high) return bad(text, dtype, message("an integer from {} to {}", low, high));
  return Scalar{dtype, {encode_u64(dtype, static_cast<uint64_t>(*value)), 0}};
}

/// Parses inf, -inf and nan, if the dtype has them.
Expected<Scalar> parse_special(std::string_view text, DType dtype) {
  const DTypeInfo& row = info(dtype);
  const bool wants_nan = text == "nan";
  const bool has = wants_nan ? row.codes != FloatCodes::finite && row.codes != FloatCodes::opaque : row.codes == FloatCodes::ieee;
  if (!has) return bad(text, dtype, message("a finite number, there is no {},", text));
  const double inf = std::numeric_limits<double>::infinity();
  return Scalar{dtype, {encode(dtype, wants_nan ? std::numeric_limits<double>::quiet_NaN() : text[0] == '-' ? -inf : inf), 0}};
}

Expected<Scalar> parse_float(std::string_view text, DType dtype) {
  if (text == "inf" || text == "-inf" || text == "nan") return parse_special(text, dtype);
  if (!has_decimal(dtype)) return bad(text, dtype, "0x and the bits");
  std::optional<double> value;
  if (dtype == DType::f32)
    value = number<float>(text);
  else
    value = number<double>(text);
  const uint64_t code = encode(dtype, value.value_or(0));
  if (value && std::isfinite(*value) && std::isfinite(decode(dtype, code))) return Scalar{dtype, {code, 0}};
  return bad(text, dtype, "a decimal number in range, inf, nan, or 0x and the bits");
}

Expected<Scalar> parse_complex(std::string_view text, DType dtype) {
  const size_t comma = text.find(',');
  if (text.size() < 5 || text.front() != '(' || text.back() != ')' || comma == std::string_view::npos)
    return bad(text, dtype, "(re,im)");
  STREW_ASSIGN(const Scalar re, parse_scalar(text.substr(1, comma - 1), part_dtype(dtype)));
  STREW_ASSIGN(const Scalar im, parse_scalar(text.substr(comma + 1, text.size() - comma - 2), part_dtype(dtype)));
  return make_complex(dtype, re.bits[0], im.bits[0]);
}

}  // namespace

std::string print(const Scalar& s) {
  if (!s.has_value()) return "none";
  if (!fits(s)) return hex(s);
  const FpEnvironment environment(is_float(s.dtype) || is_complex(s.dtype));
  const auto part = [&](uint64_t bits) { return print(Scalar{part_dtype(s.dtype), {bits, 0}}); };
  switch (info(s.dtype).kind) {
    case DTypeKind::boolean:
      return s.bits[0] > 1 ? hex(s) : s.bits[0] == 1 ? "true" : "false";
    case DTypeKind::unsigned_integer:
      return std::to_string(s.bits[0]);
    case DTypeKind::signed_integer:
      return std::to_string(decode_i64(s.dtype, s.bits[0]));
    case DTypeKind::floating:
      return print_float(s);
    case DTypeKind::complex:
      return "(" + part(real_bits(s)) + "," + part(imaginary_bits(s)) + ")";
    case DTypeKind::string:
      break;
  }
  return hex(s);
}

Expected<Scalar> parse_scalar(std::string_view text, DType dtype) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.size() > 512) return bad(text, dtype, "at most 512 characters");
  if (text.substr(0, 2) == "0x") return parse_hex(text, dtype);
  const FpEnvironment environment(is_float(dtype) || is_complex(dtype));  // from_chars obeys the caller's rounding mode
  switch (info(dtype).kind) {
    case DTypeKind::boolean:
      if (text == "true" || text == "1") return Scalar{dtype, {1, 0}};
      if (text == "false" || text == "0") return Scalar{dtype, {0, 0}};
      return bad(text, dtype, "true or false");
    case DTypeKind::signed_integer:
      return parse_integer<int64_t>(text, dtype, std::numeric_limits<int64_t>::min() >> (64 - bits(dtype)),
                                    std::numeric_limits<int64_t>::max() >> (64 - bits(dtype)));
    case DTypeKind::unsigned_integer:
      return parse_integer<uint64_t>(text, dtype, 0, ~uint64_t{0} >> (64 - bits(dtype)));
    case DTypeKind::floating:
      return parse_float(text, dtype);
    case DTypeKind::complex:
      return parse_complex(text, dtype);
    case DTypeKind::string:
      break;
  }
  return bad(text, dtype, "0x and the bits");
}

}  // namespace strew::inline v0
