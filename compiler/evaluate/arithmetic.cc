// A struct per kind of dtypes has a function per operator that takes them, by the operator's name in expr_ops.def. Comparisons use exact
// values: integers by their signedness, floats as in IEEE 754 (of a NaN, only `ne` is true), complex numbers by their parts and only for
// equality. Tested by tests/unit/compiler/evaluate/reference_arithmetic_test.cc.
#include "compiler/evaluate/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/math/math.h"
#include "base/number.h"

namespace strew::inline v0::scalar_eval {
namespace {

Scalar truth(bool value) { return {DType::boolean, {value ? 1u : 0u, 0}}; }

struct Comparisons {
  static bool eq(const auto& a, const auto& b) { return a == b; }
  static bool ne(const auto& a, const auto& b) { return !(a == b); }
  static bool lt(const auto& a, const auto& b) { return a < b; }
  static bool le(const auto& a, const auto& b) { return a <= b; }
  static bool gt(const auto& a, const auto& b) { return a > b; }
  static bool ge(const auto& a, const auto& b) { return a >= b; }
};

struct Boolean : Comparisons {
  static constexpr unsigned kTakes = expr_dtypes::boolean;
  static bool load(const Scalar& x) { return x.bits[0] != 0; }
  static Scalar store(DType /*dtype*/, bool value) { return truth(value); }

  static bool add(bool a, bool b) { return a || b; }
  static bool mul(bool a, bool b) { return a && b; }
  static bool min(bool a, bool b) { return a && b; }
  static bool max(bool a, bool b) { return a || b; }
  static bool bit_and(bool a, bool b) { return a && b; }
  static bool bit_or(bool a, bool b) { return a || b; }
  static bool bit_xor(bool a, bool b) { return a != b; }
  static bool bit_not(bool a) { return !a; }
};

/// Two's complement that wraps: a result is computed in a type in which it cannot overflow, then cut to the width. x / 0 has all bits
/// set, and x rem 0 is x. Shift amounts are unsigned, so a negative amount counts as larger than the width.
struct Integer : Comparisons {
  using Wide = __int128;
  static constexpr unsigned kTakes = expr_dtypes::integers;
  static Integer load(const Scalar& x) {
    const Wide value = x.dtype == DType::u64 ? static_cast<Wide>(x.bits[0]) : decode_i64(x.dtype, x.bits[0]);
    return {{}, strew::bits(x.dtype), x.bits[0], value};
  }
  static Scalar store(DType dtype, Wide value) { return {dtype, {encode_u64(dtype, static_cast<uint64_t>(value)), 0}}; }
  static Scalar store(DType /*dtype*/, bool value) { return truth(value); }
  friend bool operator==(const Integer& a, const Integer& b) { return a.value == b.value; }
  friend auto operator<=>(const Integer& a, const Integer& b) { return a.value <=> b.value; }

  static Wide add(const Integer& a, const Integer& b) { return a.value + b.value; }
  static Wide sub(const Integer& a, const Integer& b) { return a.value - b.value; }
  static Wide mul(const Integer& a, const Integer& b) { return a.bits * b.bits; }
  static Wide div(const Integer& a, const Integer& b) { return b.value == 0 ? Wide{-1} : a.value / b.value; }
  static Wide rem(const Integer& a, const Integer& b) { return b.value == 0 ? a.value : a.value % b.value; }
  static Wide min(const Integer& a, const Integer& b) { return std::min(a.value, b.value); }
  static Wide max(const Integer& a, const Integer& b) { return std::max(a.value, b.value); }
  static Wide bit_and(const Integer& a, const Integer& b) { return a.bits & b.bits; }
  static Wide bit_or(const Integer& a, const Integer& b) { return a.bits | b.bits; }
  static Wide bit_xor(const Integer& a, const Integer& b) { return a.bits ^ b.bits; }
  static Wide shift_left(const Integer& a, const Integer& b) { return a.shifts_out(b) ? 0 : a.bits << b.bits; }
  static Wide shift_right_logical(const Integer& a, const Integer& b) { return a.shifts_out(b) ? 0 : a.bits >> b.bits; }
  /// Fills with the top bit of the width, for unsigned dtypes too.
  static Wide shift_right_arithmetic(const Integer& a, const Integer& b) {
    const int unused = 64 - a.width;
    return static_cast<int64_t>(a.bits << unused) >> unused >> (a.shifts_out(b) ? 63 : b.bits);
  }
  static Wide neg(const Integer& a) { return -a.value; }
  static Wide abs(const Integer& a) { return a.value < 0 ? -a.value : a.value; }
  static Wide sign(const Integer& a) { return Wide{a.value > 0} - Wide{a.value < 0}; }
  static Wide bit_not(const Integer& a) { return ~a.bits; }
  static Wide popcnt(const Integer& a) { return std::popcount(a.bits); }
  static Wide count_leading_zeros(const Integer& a) { return a.width - std::bit_width(a.bits); }

  bool shifts_out(const Integer& amount) const { return amount.bits >= static_cast<uint64_t>(width); }

  int width;
  uint64_t bits;
  Wide value;  ///< of either signedness
};

/// f32 and narrower dtypes are evaluated in f32, f64 in f64, and the result is rounded to the dtype. The C++ compiler must round every float
/// and double operation once, as IEEE 754 says: this file is compiled with -ffp-contract=off, for SSE or newer.
template <class T>
struct Float : Comparisons {
  static constexpr unsigned kTakes = expr_dtypes::floats;
  static T load(const Scalar& x) { return static_cast<T>(decode(x.dtype, x.bits[0])); }
  static Scalar store(DType dtype, T value) { return {dtype, {encode(dtype, static_cast<double>(value)), 0}}; }
  static Scalar store(DType /*dtype*/, bool value) { return truth(value); }

  static T add(T a, T b) { return a + b; }
  static T sub(T a, T b) { return a - b; }
  static T mul(T a, T b) { return a * b; }
  static T div(T a, T b) { return a / b; }
  /// IEEE 754-2019 minimum and maximum: NaN if an argument is NaN; -0 < +0.
  static T min(T a, T b) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    return a < b || (a == b && std::signbit(a)) ? a : b;
  }
  static T max(T a, T b) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    return a > b || (a == b && !std::signbit(a)) ? a : b;
  }
  static T neg(T x) { return -x; }
  static T abs(T x) { return std::fabs(x); }
  static T sign(T x) { return std::isnan(x) || x == 0 ? x : std::copysign(T{1}, x); }
  static T floor(T x) { return std::floor(x); }
  static T ceil(T x) { return std::ceil(x); }
  static T round_half_even(T x) { return std::nearbyint(x); }
  static T round_half_away(T x) { return std::round(x); }
  static T trunc(T x) { return std::trunc(x); }
  static T sqrt(T x) { return std::sqrt(x); }
  static T fma(T a, T b, T c) { return std::fma(a, b, c); }
  static bool is_finite(T x) { return std::isfinite(x); }
#define STREW_MATH_CALL(op, ...)            \
  static T op(auto... x) {                  \
    if constexpr (std::is_same_v<T, float>) \
      return strew_math_##op##_f32(x...);   \
    else                                    \
      return strew_math_##op##_f64(x...);   \
  }
  STREW_MATH_UNARY(STREW_MATH_CALL)
  STREW_MATH_BINARY(STREW_MATH_CALL)
#undef STREW_MATH_CALL
};

/// By the formulas of docs/semantics.md section 4. They are written out because std::complex leaves its formulas open. Every step is
/// rounded to the dtype of the parts.
template <class T>
struct Complex : Comparisons {
  static constexpr unsigned kTakes = expr_dtypes::complexes;
  static Complex load(const Scalar& x) {
    const auto part = [&](uint64_t bits) { return static_cast<T>(decode(part_dtype(x.dtype), bits)); };
    return {{}, part(real_bits(x)), part(imaginary_bits(x)), x};
  }
  static Scalar store(DType dtype, const Complex& x) {
    const auto bits = [&](T part) { return encode(part_dtype(dtype), static_cast<double>(part)); };
    return make_complex(dtype, bits(x.re), bits(x.im));
  }
  static Scalar store(DType /*dtype*/, bool value) { return truth(value); }
  static Scalar store(DType /*dtype*/, const Scalar& value) { return value; }
  friend bool operator==(const Complex& a, const Complex& b) { return a.re == b.re && a.im == b.im; }

  static Complex add(const Complex& a, const Complex& b) { return {{}, a.re + b.re, a.im + b.im, {}}; }
  static Complex sub(const Complex& a, const Complex& b) { return {{}, a.re - b.re, a.im - b.im, {}}; }
  static Complex mul(const Complex& a, const Complex& b) {
    return {{}, a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, {}};
  }
  /// Smith's algorithm, as docs/semantics.md has it.
  static Complex div(const Complex& a, const Complex& b) {
    if (std::fabs(b.re) >= std::fabs(b.im)) {
      const T r = b.im / b.re, d = b.re + b.im * r;
      return {{}, (a.re + a.im * r) / d, (a.im - a.re * r) / d, {}};
    }
    const T r = b.re / b.im, d = b.re * r + b.im;
    return {{}, (a.re * r + a.im) / d, (a.im * r - a.re) / d, {}};
  }
  static Scalar neg(const Complex& x) {
    const uint64_t sign = uint64_t{1} << (bits(x.from.dtype) / 2 - 1);
    return make_complex(x.from.dtype, real_bits(x.from) ^ sign, imaginary_bits(x.from) ^ sign);
  }

  T re, im;
  Scalar from;  ///< what was loaded
};

/// The operator's function of Kind. The compiler asks for one of each operator that takes the kind's dtypes, whose result is of the arguments'
/// dtype or bool, and that has so many arguments; of other operators, which verify() does not admit, nothing.
template <class Kind, class... More>
Scalar evaluate(ExprOp op, const Scalar& x, const More&... more) {
  switch (op) {
#define STREW_EVALUATE(row, name, arity, arguments, result, ...)                                         \
  case ExprOp::row:                                                                                      \
    if constexpr (arity == 1 + sizeof...(more) && (expr_dtypes::arguments & Kind::kTakes) != 0 &&        \
                  (ExprResult::result == ExprResult::same || ExprResult::result == ExprResult::boolean)) \
      return Kind::store(x.dtype, Kind::row(Kind::load(x), Kind::load(more)...));                        \
    else                                                                                                 \
      return {};
    STREW_EXPR_OPS(STREW_EVALUATE)
#undef STREW_EVALUATE
  }
  return {};
}

template <class... More>
Scalar apply_to(ExprOp op, const Scalar& x, const More&... more) {
  switch (info(x.dtype).kind) {
    case DTypeKind::floating:
      return x.dtype == DType::f64 ? evaluate<Float<double>>(op, x, more...) : evaluate<Float<float>>(op, x, more...);
    case DTypeKind::complex:
      return x.dtype == DType::complex128 ? evaluate<Complex<double>>(op, x, more...) : evaluate<Complex<float>>(op, x, more...);
    case DTypeKind::boolean:
      return evaluate<Boolean>(op, x, more...);
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      return evaluate<Integer>(op, x, more...);
    case DTypeKind::string:
      break;
  }
  return {};  // strings only move
}

}  // namespace

Scalar apply(ExprOp op, const Scalar& x) { return apply_to(op, x); }
Scalar apply(ExprOp op, const Scalar& a, const Scalar& b) { return apply_to(op, a, b); }
Scalar apply(ExprOp op, const Scalar& a, const Scalar& b, const Scalar& c) { return apply_to(op, a, b, c); }

}  // namespace strew::inline v0::scalar_eval
