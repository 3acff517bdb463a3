// Operators: what the combiners that have a loop of their own (combine.h) compute from two numbers, as docs/semantics.md section 4 says. Integers are computed in
// unsigned types, in which nothing overflows. Float minimum and maximum have no branches, so that loops become vector code.
// Tested by tests/differential on every dtype.
#pragma once

#include "backends/portable/loops/level.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

/// The types of an integer's width, and the unsigned type that it is computed in.
template <class Signed, class Unsigned, class WideUnsigned>
struct Width {
  using S = Signed;
  using U = Unsigned;
  using Wide = WideUnsigned;
};
template <class T>
struct Integer;
template <>
struct Integer<int8_t> : Width<int8_t, uint8_t, uint32_t> {};
template <>
struct Integer<uint8_t> : Width<int8_t, uint8_t, uint32_t> {};
template <>
struct Integer<int16_t> : Width<int16_t, uint16_t, uint32_t> {};
template <>
struct Integer<uint16_t> : Width<int16_t, uint16_t, uint32_t> {};
template <>
struct Integer<int32_t> : Width<int32_t, uint32_t, uint32_t> {};
template <>
struct Integer<uint32_t> : Width<int32_t, uint32_t, uint32_t> {};
template <>
struct Integer<int64_t> : Width<int64_t, uint64_t, uint64_t> {};
template <>
struct Integer<uint64_t> : Width<int64_t, uint64_t, uint64_t> {};
template <>
struct Integer<float> : Width<int32_t, uint32_t, uint32_t> {};
template <>
struct Integer<double> : Width<int64_t, uint64_t, uint64_t> {};

template <class T>
inline constexpr bool kIsFloat = false;
template <>
inline constexpr bool kIsFloat<float> = true;
template <>
inline constexpr bool kIsFloat<double> = true;
template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<Complex<T>> = true;

template <class T>
[[gnu::always_inline]] inline T magnitude(T v) {
  if constexpr (sizeof(T) == 4)
    return __builtin_fabsf(v);
  else
    return __builtin_fabs(v);
}

/// a < b ? a : b and b < a ? b : a differ for zeros of different sign, of which `or` of the bits is -0 and `and` is +0, and for a NaN, which
/// one of the two is; `or` keeps it.
template <bool is_max, class T>
[[gnu::always_inline]] inline T extremum(T a, T b) {
  using U = typename Integer<T>::U;
  const T x = is_max ? (a > b ? a : b) : (a < b ? a : b);
  const T y = is_max ? (b > a ? b : a) : (b < a ? b : a);
  const U xb = bits_as<U>(x), yb = bits_as<U>(y);
  if constexpr (!is_max) return bits_as<T>(xb | yb);
  const U nan = a != a || b != b ? ~U{0} : U{0};
  return bits_as<T>((xb & yb) | nan);
}

/// Smith's method.
template <class T>
[[gnu::always_inline]] inline Complex<T> divide(Complex<T> a, Complex<T> b) {
  if (magnitude(b.re) >= magnitude(b.im)) {
    const T r = b.im / b.re;
    const T d = b.re + b.im * r;
    return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
  }
  const T r = b.re / b.im;
  const T d = b.re * r + b.im;
  return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

template <class T>
[[gnu::always_inline]] inline T divide_integers(T a, T b) {
  constexpr T kAll = static_cast<T>(-1);
  if (b == 0) return kAll;
  if constexpr (kAll < T{0}) {
    // x / -1 is -x, which wraps.
    using W = typename Integer<T>::Wide;
    if (b == kAll) return static_cast<T>(W{0} - static_cast<W>(a));
  }
  return static_cast<T>(a / b);
}

/// op(a, b), where both are of one base type.
template <ExprOp op, class T>
[[gnu::always_inline]] inline T binary(T a, T b) {
  if constexpr (kIsComplex<T>) {
    if constexpr (op == ExprOp::add) return {a.re + b.re, a.im + b.im};
    if constexpr (op == ExprOp::sub) return {a.re - b.re, a.im - b.im};
    if constexpr (op == ExprOp::mul) return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    if constexpr (op == ExprOp::div) return divide(a, b);
  } else if constexpr (kIsFloat<T>) {
    if constexpr (op == ExprOp::add) return a + b;
    if constexpr (op == ExprOp::sub) return a - b;
    if constexpr (op == ExprOp::mul) return a * b;
    if constexpr (op == ExprOp::div) return a / b;
    if constexpr (op == ExprOp::min) return extremum<false>(a, b);
    if constexpr (op == ExprOp::max) return extremum<true>(a, b);
  } else {
    using W = typename Integer<T>::Wide;
    if constexpr (op == ExprOp::add) return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
    if constexpr (op == ExprOp::sub) return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
    if constexpr (op == ExprOp::mul) return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
    if constexpr (op == ExprOp::div) return divide_integers(a, b);
    if constexpr (op == ExprOp::min) return a < b ? a : b;
    if constexpr (op == ExprOp::max) return a > b ? a : b;
    if constexpr (op == ExprOp::bit_and) return static_cast<T>(a & b);
    if constexpr (op == ExprOp::bit_or) return static_cast<T>(a | b);
    if constexpr (op == ExprOp::bit_xor) return static_cast<T>(a ^ b);
  }
}

/// Bool: any nonzero byte is true, and results are 0 or 1.
template <ExprOp op>
[[gnu::always_inline]] inline uint8_t binary_bool(uint8_t a, uint8_t b) {
  const int x = a != 0, y = b != 0;
  if constexpr (op == ExprOp::add || op == ExprOp::max || op == ExprOp::bit_or) return static_cast<uint8_t>(x | y);
  if constexpr (op == ExprOp::mul || op == ExprOp::min || op == ExprOp::bit_and) return static_cast<uint8_t>(x & y);
  if constexpr (op == ExprOp::bit_xor) return static_cast<uint8_t>(x ^ y);
}

}  // namespace
}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
