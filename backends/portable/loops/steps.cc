// Steps: loops over elements that lie side by side, out[i] = operation(a[i], b[i], c[i]), one for each operation of lowered graphs
// (backends/lower/primitives.def) and each of its machine types. The output is never one of the inputs. i1 is a byte, 0 or 1; integers are computed
// in unsigned types, in which nothing overflows. Compounds are natives here: a loop of theirs is faster than the loops of their parts. Functions of
// the math table (base/math) are called element by element, as every backend calls them.
// Tested by tests/unit/backends/portable/portable_test.cc against the rules of backends/lower, and by tests/differential.
#include "backends/portable/loops/operators.h"
#include "backends/portable/loops/small_float.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

using lowered::Machine, lowered::Primitive;

struct Bit {
  uint8_t byte;
};

template <class Out, class A, class Function>
[[gnu::always_inline]] inline void map(void* out, const void* a, int64_t n, const Function& function) {
  auto* const to = static_cast<typename Loose<Out>::type*>(out);
  const auto* const x = static_cast<const typename Loose<A>::type*>(a);
  STREW_NO_DEPENDENCE for (int64_t i = 0; i < n; ++i) to[i] = function(x[i]);
}
template <class Out, class A, class Function>
[[gnu::always_inline]] inline void map(void* out, const void* a, const void* b, int64_t n, const Function& function) {
  auto* const to = static_cast<typename Loose<Out>::type*>(out);
  const auto *const x = static_cast<const typename Loose<A>::type*>(a), *const y = static_cast<const typename Loose<A>::type*>(b);
  STREW_NO_DEPENDENCE for (int64_t i = 0; i < n; ++i) to[i] = function(x[i], y[i]);
}

// --- One operation on numbers. T is unsigned, or a float.

template <Primitive op, class T>
[[gnu::always_inline]] inline T unary(T a) {
  using enum Primitive;
  if constexpr (kIsFloat<T>) {
    constexpr bool kSingle = sizeof(T) == 4;
    using U = typename Integer<T>::U;
    if constexpr (op == fneg) return bits_as<T>(bits_as<U>(a) ^ (U{1} << (8 * sizeof(T) - 1)));
    if constexpr (op == fabs) return magnitude(a);
    if constexpr (op == floor) return static_cast<T>(kSingle ? __builtin_floorf(a) : __builtin_floor(a));
    if constexpr (op == ceil) return static_cast<T>(kSingle ? __builtin_ceilf(a) : __builtin_ceil(a));
    if constexpr (op == ftrunc) return static_cast<T>(kSingle ? __builtin_truncf(a) : __builtin_trunc(a));
    if constexpr (op == roundeven) return static_cast<T>(kSingle ? __builtin_nearbyintf(a) : __builtin_nearbyint(a));
    if constexpr (op == round) return static_cast<T>(kSingle ? __builtin_roundf(a) : __builtin_round(a));
    if constexpr (op == sqrt) return static_cast<T>(kSingle ? __builtin_sqrtf(a) : __builtin_sqrt(a));
  } else {
    using S = typename Integer<T>::S;
    using W = typename Integer<T>::Wide;
    if constexpr (op == iabs) return static_cast<S>(a) < 0 ? static_cast<T>(W{0} - a) : a;
    if constexpr (op == popcount) return static_cast<T>(__builtin_popcountll(a));
    if constexpr (op == clz) {
      constexpr int kUnused = 64 - 8 * static_cast<int>(sizeof(T));
      return static_cast<T>((a == 0 ? 64 : __builtin_clzll(a)) - kUnused);
    }
  }
}

template <Primitive op, class T>
[[gnu::always_inline]] inline T binary_number(T a, T b) {
  using enum Primitive;
  if constexpr (kIsFloat<T>) {
    using U = typename Integer<T>::U;
    constexpr U kSign = U{1} << (8 * sizeof(T) - 1);
    if constexpr (op == add) return a + b;
    if constexpr (op == sub) return a - b;
    if constexpr (op == mul) return a * b;
    if constexpr (op == fdiv) return a / b;
    if constexpr (op == fmin) return extremum<false>(a, b);
    if constexpr (op == fmax) return extremum<true>(a, b);
    if constexpr (op == copysign) return bits_as<T>((bits_as<U>(a) & ~kSign) | (bits_as<U>(b) & kSign));
  } else {
    using S = typename Integer<T>::S;
    using W = typename Integer<T>::Wide;
    const S x = static_cast<S>(a), y = static_cast<S>(b);
    if constexpr (op == add) return static_cast<T>(W{a} + W{b});
    if constexpr (op == sub) return static_cast<T>(W{a} - W{b});
    if constexpr (op == mul) return static_cast<T>(W{a} * W{b});
    if constexpr (op == udiv) return static_cast<T>(a / b);
    if constexpr (op == urem) return static_cast<T>(a % b);
    if constexpr (op == sdiv) return static_cast<T>(x / y);
    if constexpr (op == srem) return static_cast<T>(x % y);
    if constexpr (op == bit_and) return static_cast<T>(a & b);
    if constexpr (op == bit_or) return static_cast<T>(a | b);
    if constexpr (op == bit_xor) return static_cast<T>(a ^ b);
    // Amounts are below the width; of what is computed for nothing, the low bits are as good.
    constexpr W kAmounts = 8 * sizeof(T) - 1;
    if constexpr (op == shl) return static_cast<T>(W{a} << (W{b} & kAmounts));
    if constexpr (op == lshr) return static_cast<T>(W{a} >> (W{b} & kAmounts));
    if constexpr (op == ashr) return static_cast<T>(x >> (W{b} & kAmounts));
    if constexpr (op == smin) return x < y ? a : b;
    if constexpr (op == smax) return x < y ? b : a;
    if constexpr (op == umin) return a < b ? a : b;
    if constexpr (op == umax) return a < b ? b : a;
  }
}

template <Primitive op, class T>
[[gnu::always_inline]] inline bool compared(T a, T b) {
  using enum Primitive;
  if constexpr (op == eq) return a == b;
  if constexpr (op == flt || op == ult) return a < b;
  if constexpr (op == unordered) return a != a || b != b;
  if constexpr (op == slt) return static_cast<typename Integer<T>::S>(a) < static_cast<typename Integer<T>::S>(b);
}

/// Truncates and saturates to [least, most]; `beyond` is most + 1. NaN gives 0.
template <class To, class From>
[[gnu::always_inline]] inline To saturated(From value) {
  constexpr bool kSigned = static_cast<To>(-1) < To{0};
  constexpr int kDigits = 8 * static_cast<int>(sizeof(To)) - (kSigned ? 1 : 0);
  constexpr From kBeyond = static_cast<From>(uint64_t{1} << (kDigits - 1)) * 2;
  constexpr auto kLargest = static_cast<To>(~uint64_t{0} >> (64 - kDigits));
  constexpr From kLeast = kSigned ? -kBeyond : From{0};
  if constexpr (sizeof(To) < 4) {
    // Through 32 bits, for which there are vector instructions.
    const From most = static_cast<From>(kLargest);
    const From low = value > kLeast ? value : kLeast, cut = low < most ? low : most;
    return static_cast<To>(static_cast<int32_t>(value == value ? cut : From{0}));
  } else {
    if (!(value == value)) return To{0};
    if (value >= kBeyond) return kLargest;
    if (value <= kLeast) return kSigned ? static_cast<To>(~kLargest) : To{0};
    return static_cast<To>(value);
  }
}

template <Primitive op, class To, class From>
[[gnu::always_inline]] inline To cast(From a) {
  using enum Primitive;
  if constexpr (op == sext || op == sitofp) return static_cast<To>(static_cast<typename Integer<From>::S>(a));
  if constexpr (op == fptosi_sat) return static_cast<To>(saturated<typename Integer<To>::S>(a));
  if constexpr (op == fptoui_sat) return saturated<To>(a);
  if constexpr (op == itrunc || op == zext || op == uitofp || op == fptrunc || op == fpext || op == fptoui)
    return static_cast<To>(a);
}

// --- Their loops.

template <Primitive op, class T>
void unary_step(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<T, T>(out, a, n, [](T x) { return unary<op, T>(x); });
}
template <Primitive op, class T>
void binary_step(void* out, const void* a, const void* b, const void*, int64_t n, const void*) {
  map<T, T>(out, a, b, n, [](T x, T y) { return binary_number<op, T>(x, y); });
}
template <Primitive op, class T>
void compare_step(void* out, const void* a, const void* b, const void*, int64_t n, const void*) {
  map<uint8_t, T>(out, a, b, n, [](T x, T y) { return static_cast<uint8_t>(compared<op, T>(x, y) ? 1 : 0); });
}
template <Primitive op, class To, class From>
void cast_step(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<To, From>(out, a, n, [](From x) { return cast<op, To, From>(x); });
}
template <class To>
void sext_bit_step(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<To, uint8_t>(out, a, n, [](uint8_t x) { return static_cast<To>(x != 0 ? ~To{0} : To{0}); });
}

template <class T>
void select_step(void* out, const void* condition, const void* a, const void* b, int64_t n, const void*) {
  auto* const to = static_cast<typename Loose<T>::type*>(out);
  const auto* const which = static_cast<const uint8_t*>(condition);
  const auto *const x = static_cast<const typename Loose<T>::type*>(a), *const y = static_cast<const typename Loose<T>::type*>(b);
  STREW_NO_DEPENDENCE for (int64_t i = 0; i < n; ++i) {
    const T then = x[i], otherwise = y[i];
    to[i] = which[i] != 0 ? then : otherwise;
  }
}

/// Of the level's instruction or, without one, of the C library's function.
template <class T>
void fma_step(void* out, const void* a, const void* b, const void* c, int64_t n, const void*) {
  using Number = typename Loose<T>::type;
  auto* const to = static_cast<Number*>(out);
  const auto *const x = static_cast<const Number*>(a), *const y = static_cast<const Number*>(b),
                    *const z = static_cast<const Number*>(c);
  STREW_NO_DEPENDENCE for (int64_t i = 0; i < n; ++i) to[i] =
      static_cast<T>(sizeof(T) == 4 ? __builtin_fmaf(x[i], y[i], z[i]) : __builtin_fma(x[i], y[i], z[i]));
}

template <class T, int arity>
void call_step(void* out, const void* a, const void* b, const void* c, int64_t n, const void* extra) {
  using Number = typename Loose<T>::type;
  auto* const to = static_cast<Number*>(out);
  const auto *const x = static_cast<const Number*>(a), *const y = static_cast<const Number*>(b),
                    *const z = static_cast<const Number*>(c);
  void* const function = const_cast<void*>(extra);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (arity == 1) to[i] = reinterpret_cast<T (*)(T)>(function)(x[i]);
    if constexpr (arity == 2) to[i] = reinterpret_cast<T (*)(T, T)>(function)(x[i], y[i]);
    if constexpr (arity == 3) to[i] = reinterpret_cast<T (*)(T, T, T)>(function)(x[i], y[i], z[i]);
  }
}

const SmallFloat& format_of(const void* extra) { return *static_cast<const SmallFloat*>(extra); }

void decode_step8(void* out, const void* a, const void*, const void*, int64_t n, const void* extra) {
  const SmallFloat f = format_of(extra);
  map<float, uint8_t>(out, a, n, [&f](uint8_t x) { return decode_small(f, x); });
}
void encode_step8(void* out, const void* a, const void*, const void*, int64_t n, const void* extra) {
  const SmallFloat f = format_of(extra);
  map<uint8_t, float>(out, a, n, [&f](float x) { return static_cast<uint8_t>(encode_small(f, x)); });
}
void decode_bf16_step(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<float, uint16_t>(out, a, n, [](uint16_t x) { return decode_bf16(x); });
}
void encode_bf16_step(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<uint16_t, float>(out, a, n, [](float x) { return encode_bf16(x); });
}
void decode_f16_step(void* out, const void* a, const void*, const void*, int64_t n, const void* extra) {
  const SmallFloat f = format_of(extra);
  const auto from = reinterpret_cast<int64_t>(a);
  auto* const to = static_cast<Loose<float>::type*>(out);
  int64_t i = 0;
  for (; i + kHalves <= n; i += kHalves) decode_halves(f, to + i, from + 2 * i);
  for (; i < n; ++i) to[i] = decode_f16(f, load<uint16_t>(from + 2 * i));
}
void encode_f16_step(void* out, const void* a, const void*, const void*, int64_t n, const void* extra) {
  const SmallFloat f = format_of(extra);
  const auto to = reinterpret_cast<int64_t>(out);
  const auto* const from = static_cast<const Loose<float>::type*>(a);
  int64_t i = 0;
  for (; i + kHalves <= n; i += kHalves) encode_halves(f, to + 2 * i, from + i);
  for (; i < n; ++i) store<uint16_t>(to + 2 * i, encode_f16(f, from[i]));
}

// --- Which loop is whose.

template <class T>
struct Of {
  using type = T;
};
/// function(Of<T>()) of the unsigned or float type of a machine type; i1 gives Bit. Null for types that it has no loop for.
template <class Function>
StepLoop with_type(Machine type, const Function& function) {
  switch (type) {
    case Machine::i1:
      return function(Of<Bit>());
    case Machine::i8:
      return function(Of<uint8_t>());
    case Machine::i16:
      return function(Of<uint16_t>());
    case Machine::i32:
      return function(Of<uint32_t>());
    case Machine::i64:
      return function(Of<uint64_t>());
    case Machine::f32:
      return function(Of<float>());
    case Machine::f64:
      return function(Of<double>());
  }
  return nullptr;
}

template <class T>
inline constexpr bool kIsBit = __is_same(T, Bit);
template <class T>
inline constexpr bool kIsInteger = !kIsBit<T> && !kIsFloat<T>;

/// Does an operation take arguments of type T?
template <class T>
constexpr bool takes(lowered::Takes set) {
  switch (set) {
    case lowered::Takes::own:
      return false;
    case lowered::Takes::integers:
      return kIsInteger<T>;
    case lowered::Takes::floats:
      return kIsFloat<T>;
    case lowered::Takes::numbers:
      return !kIsBit<T>;
    case lowered::Takes::bits:
      return !kIsFloat<T>;
  }
  return false;
}

template <Primitive op, int arity, lowered::Takes set, lowered::Gives gives>
StepLoop same_type(Machine from, Machine to) {
  if (to != (gives == lowered::Gives::i1 ? Machine::i1 : from)) return nullptr;
  return with_type(from, []<class T>(Of<T>) -> StepLoop {
    if constexpr (!takes<T>(set)) {
      return nullptr;
    } else if constexpr (kIsBit<T>) {
      return binary_step<op, uint8_t>;
    } else if constexpr (op == Primitive::fma) {
      return fma_step<T>;
    } else if constexpr (op == Primitive::call1 || op == Primitive::call2 || op == Primitive::call3) {
      return call_step<T, arity>;
    } else if constexpr (gives == lowered::Gives::i1) {
      return compare_step<op, T>;
    } else if constexpr (arity == 1) {
      return unary_step<op, T>;
    } else {
      return binary_step<op, T>;
    }
  });
}

StepLoop select_of(Machine type) {
  return with_type(type, []<class T>(Of<T>) -> StepLoop {
    if constexpr (kIsBit<T>)
      return select_step<uint8_t>;
    else
      return select_step<T>;
  });
}

constexpr bool takes_float(Primitive op) {
  return op == Primitive::fptrunc || op == Primitive::fpext || op == Primitive::fptoui || op == Primitive::fptosi_sat ||
         op == Primitive::fptoui_sat;
}
constexpr bool gives_float(Primitive op) {
  return op == Primitive::fptrunc || op == Primitive::fpext || op == Primitive::sitofp || op == Primitive::uitofp;
}

template <class T>
inline constexpr size_t kWidth = kIsBit<T> ? 1 : 8 * sizeof(T);
/// Is the value of another width than the argument, as it must be of this cast?
template <Primitive op, class From, class To>
inline constexpr bool kFits = op == Primitive::itrunc || op == Primitive::fptrunc ? kWidth<To> < kWidth<From>
                              : op == Primitive::zext || op == Primitive::sext || op == Primitive::fpext
                                  ? (kWidth<To> > kWidth<From>)
                                  : true;

template <Primitive op>
StepLoop cast_of(Machine from, Machine to) {
  return with_type(from, [to]<class From>(Of<From>) {
    return with_type(to, []<class To>(Of<To>) -> StepLoop {
      if constexpr (kIsBit<To> || !kFits<op, From, To> || takes_float(op) != kIsFloat<From> || gives_float(op) != kIsFloat<To>)
        return nullptr;
      else if constexpr (kIsBit<From> && op == Primitive::sext)
        return sext_bit_step<To>;
      else if constexpr (kIsBit<From>)
        return cast_step<op, To, uint8_t>;
      else
        return cast_step<op, To, From>;
    });
  });
}

StepLoop step(Primitive op, Machine from, Machine to) {
  switch (op) {
#define STREW_SAME_TYPE(op, arity, set, gives, domain) \
  case Primitive::op:                                  \
    return same_type<Primitive::op, arity, lowered::Takes::set, lowered::Gives::gives>(from, to);
    STREW_PRIMITIVE_ARITHMETIC(STREW_SAME_TYPE)
    STREW_PRIMITIVE_FUNCTIONS(STREW_SAME_TYPE)
    STREW_COMPOUND_ARITHMETIC(STREW_SAME_TYPE)
    STREW_SAME_TYPE(call1, 1, floats, same, all)
    STREW_SAME_TYPE(call2, 2, floats, same, all)
    STREW_SAME_TYPE(call3, 3, floats, same, all)
#undef STREW_SAME_TYPE
    case Primitive::select:
      return select_of(to);
#define STREW_CAST(name) \
  case Primitive::name:  \
    return cast_of<Primitive::name>(from, to);
      STREW_CAST(itrunc)
      STREW_CAST(zext)
      STREW_CAST(sext)
      STREW_CAST(fptrunc)
      STREW_CAST(fpext)
      STREW_CAST(sitofp)
      STREW_CAST(uitofp)
      STREW_CAST(fptoui)
      STREW_CAST(fptosi_sat)
      STREW_CAST(fptoui_sat)
#undef STREW_CAST
    case Primitive::half_to_float:
      return decode_f16_step;
    case Primitive::float_to_half:
      return encode_f16_step;
    case Primitive::code_to_float:
      return from == Machine::i16 ? decode_bf16_step : decode_step8;
    case Primitive::float_to_code:
      return to == Machine::i16 ? encode_bf16_step : encode_step8;
    case Primitive::input:  // no steps
    case Primitive::constant:
    case Primitive::bitcast:
      break;
  }
  return nullptr;
}

}  // namespace

void add_steps(Loops& loops) { loops.step = step; }

}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
