// The steps on floats and complex numbers. Functions of the math table (base/math) are called element by element, as every backend calls them.
#include "backends/portable/loops/steps.h"
#include "base/math/math.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

template <class T>
[[gnu::always_inline]] inline T sign(T a) {
  using U = typename Integer<T>::U;
  constexpr U kSign = U{1} << (8 * sizeof(T) - 1);
  const T one = bits_as<T>((bits_as<U>(a) & kSign) | bits_as<U>(T{1}));
  return a < 0 || a > 0 ? one : a;  // zeros keep their sign, NaN stays
}

/// The bits of std::round, without a call.
template <class T>
[[gnu::always_inline]] inline T round_away(T a) {
  if constexpr (sizeof(T) == 4)
    return __builtin_roundf(a);
  else
    return __builtin_round(a);
}

template <class T, ExprOp op>
[[gnu::always_inline]] inline T unary(T a) {
  constexpr bool kSingle = sizeof(T) == 4;
  using U = typename Integer<T>::U;
  if constexpr (op == ExprOp::neg) return bits_as<T>(bits_as<U>(a) ^ (U{1} << (8 * sizeof(T) - 1)));
  if constexpr (op == ExprOp::abs) return magnitude(a);
  if constexpr (op == ExprOp::sign) return sign(a);
  if constexpr (op == ExprOp::round_half_away) return round_away(a);
  if constexpr (kSingle) {
    if constexpr (op == ExprOp::floor) return __builtin_floorf(a);
    if constexpr (op == ExprOp::ceil) return __builtin_ceilf(a);
    if constexpr (op == ExprOp::trunc) return __builtin_truncf(a);
    if constexpr (op == ExprOp::round_half_even) return __builtin_nearbyintf(a);
    if constexpr (op == ExprOp::sqrt) return __builtin_sqrtf(a);
    if constexpr (op == ExprOp::rsqrt) return static_cast<T>(1.0 / __builtin_sqrt(static_cast<double>(a)));
  } else {
    if constexpr (op == ExprOp::floor) return __builtin_floor(a);
    if constexpr (op == ExprOp::ceil) return __builtin_ceil(a);
    if constexpr (op == ExprOp::trunc) return __builtin_trunc(a);
    if constexpr (op == ExprOp::round_half_even) return __builtin_nearbyint(a);
    if constexpr (op == ExprOp::sqrt) return __builtin_sqrt(a);
    if constexpr (op == ExprOp::rsqrt) return 1.0 / __builtin_sqrt(a);
  }
}

template <class T, ExprOp op>
void unary_step(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<T, T>(out, a, n, [](T x) { return unary<T, op>(x); });
}

template <class T>
void is_finite(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<uint8_t, T>(out, a, n, [](T x) {
    return static_cast<uint8_t>(magnitude(x) <= (sizeof(T) == 4 ? T{__FLT_MAX__} : static_cast<T>(__DBL_MAX__)) ? 1 : 0);
  });
}

/// Of the level's instruction or, without one, of the C library's function.
template <class T>
void fused_multiply_add(void* out, const void* a, const void* b, const void* c, int64_t n, const void*) {
  auto* const to = static_cast<T*>(out);
  const auto *const x = static_cast<const T*>(a), *const y = static_cast<const T*>(b), *const z = static_cast<const T*>(c);
  STREW_NO_DEPENDENCE for (int64_t i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 4)
      to[i] = __builtin_fmaf(x[i], y[i], z[i]);
    else
      to[i] = __builtin_fma(x[i], y[i], z[i]);
  }
}

template <class T, ExprOp... ops>
void add_unary(Loops& loops, Base base) {
  ((loops.op[static_cast<size_t>(base)][static_cast<size_t>(ops)] = unary_step<T, ops>), ...);
}

template <class T>
void unary_math(void* out, const void* a, const void*, const void*, int64_t n, const void* extra) {
  const auto function = reinterpret_cast<T (*)(T)>(const_cast<void*>(extra));
  auto* const to = static_cast<T*>(out);
  const auto* const x = static_cast<const T*>(a);
  for (int64_t i = 0; i < n; ++i) to[i] = function(x[i]);
}
template <class T>
void binary_math(void* out, const void* a, const void* b, const void*, int64_t n, const void* extra) {
  const auto function = reinterpret_cast<T (*)(T, T)>(const_cast<void*>(extra));
  auto* const to = static_cast<T*>(out);
  const auto *const x = static_cast<const T*>(a), *const y = static_cast<const T*>(b);
  for (int64_t i = 0; i < n; ++i) to[i] = function(x[i], y[i]);
}

template <class T>
void add_float(Loops& loops, Base base) {
  using E = ExprOp;
  add_binary<T, E::add, E::sub, E::mul, E::div, E::min, E::max>(loops, base);
  add_unary<T, STREW_OPS_OF(UNARY_NUMBER), STREW_OPS_OF(UNARY_FLOAT), E::rsqrt>(loops, base);
  add_comparisons<T>(loops, base);
  auto& ops = loops.op[static_cast<size_t>(base)];
  ops[static_cast<size_t>(E::is_finite)] = is_finite<T>;
  ops[static_cast<size_t>(E::fma)] = fused_multiply_add<T>;
  auto& math = loops.math[static_cast<size_t>(base)];
#define STREW_MATH_STEP(name, ...) math[static_cast<size_t>(E::name)] = unary_math<T>;
  STREW_MATH_UNARY(STREW_MATH_STEP)
#undef STREW_MATH_STEP
#define STREW_MATH_STEP(name, ...) math[static_cast<size_t>(E::name)] = binary_math<T>;
  STREW_MATH_BINARY(STREW_MATH_STEP)
#undef STREW_MATH_STEP
}

template <class T>
void neg_complex(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<T, T>(out, a, 2 * n, [](T x) { return unary<T, ExprOp::neg>(x); });
}
template <class T>
void real(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<T, Complex<T>>(out, a, n, [](Complex<T> x) { return x.re; });
}
template <class T>
void imag(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<T, Complex<T>>(out, a, n, [](Complex<T> x) { return x.im; });
}
/// The parts a and b, of type T; without b: the imaginary part is 0.
template <class T>
void make_complex(void* out, const void* a, const void* b, const void*, int64_t n, const void*) {
  if (b == nullptr) return map<Complex<T>, T>(out, a, n, [](T x) { return Complex<T>{x, T{0}}; });
  map<Complex<T>, T>(out, a, b, n, [](T x, T y) { return Complex<T>{x, y}; });
}

template <class T>
void add_complex(Loops& loops, Base base, Base part) {
  using E = ExprOp;
  add_binary<Complex<T>, E::add, E::sub, E::mul, E::div>(loops, base);
  add_compare<Complex<T>, E::eq, E::ne>(loops, base);
  auto& ops = loops.op[static_cast<size_t>(base)];
  ops[static_cast<size_t>(E::neg)] = neg_complex<T>;
  ops[static_cast<size_t>(E::real)] = real<T>;
  ops[static_cast<size_t>(E::imag)] = imag<T>;
  loops.op[static_cast<size_t>(part)][static_cast<size_t>(E::complex)] = make_complex<T>;
}

}  // namespace

void add_float_steps(Loops& loops) {
  add_float<float>(loops, Base::f32);
  add_float<double>(loops, Base::f64);
  add_complex<float>(loops, Base::c64, Base::f32);
  add_complex<double>(loops, Base::c128, Base::f64);
}

}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
