// The steps on integers and bool, and those that move bits.
#include "backends/portable/loops/steps.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

template <class T, ExprOp op>
[[gnu::always_inline]] inline T unary(T a) {
  using U = typename Integer<T>::U;
  using W = typename Integer<T>::Wide;
  if constexpr (op == ExprOp::neg) return static_cast<T>(W{0} - static_cast<W>(a));
  if constexpr (op == ExprOp::abs) return a < T{0} ? static_cast<T>(W{0} - static_cast<W>(a)) : a;
  if constexpr (op == ExprOp::sign) return static_cast<T>(static_cast<int>(a > T{0}) - static_cast<int>(a < T{0}));
  if constexpr (op == ExprOp::bit_not) return static_cast<T>(~a);
  if constexpr (op == ExprOp::popcnt) return static_cast<T>(__builtin_popcountll(static_cast<U>(a)));
  if constexpr (op == ExprOp::count_leading_zeros) {
    constexpr int kUnused = 64 - 8 * static_cast<int>(sizeof(T));
    const auto wide = static_cast<unsigned long long>(static_cast<U>(a));
    return static_cast<T>(wide == 0 ? 64 - kUnused : __builtin_clzll(wide) - kUnused);
  }
}

template <class T, ExprOp op>
void unary_step(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<T, T>(out, a, n, [](T x) { return unary<T, op>(x); });
}

template <class T, ExprOp... ops>
void add_unary(Loops& loops, Base base) {
  ((loops.op[static_cast<size_t>(base)][static_cast<size_t>(ops)] = unary_step<T, ops>), ...);
}

template <class T>
void add_integer(Loops& loops, Base base) {
  add_binary<T, STREW_OPS_OF(BINARY_NUMBER), STREW_OPS_OF(BINARY_BITS), STREW_OPS_OF(SHIFT)>(loops, base);
  add_unary<T, STREW_OPS_OF(UNARY_NUMBER), STREW_OPS_OF(UNARY_BITS), STREW_OPS_OF(UNARY_INTEGER)>(loops, base);
  add_comparisons<T>(loops, base);
}

template <ExprOp op>
void bool_step(void* out, const void* a, const void* b, const void*, int64_t n, const void*) {
  map<uint8_t, uint8_t>(out, a, b, n, [](uint8_t x, uint8_t y) { return binary_bool<op>(x, y); });
}
template <ExprOp op>
void compare_bools(void* out, const void* a, const void* b, const void*, int64_t n, const void*) {
  map<uint8_t, uint8_t>(out, a, b, n, [](uint8_t x, uint8_t y) {
    return static_cast<uint8_t>(compare<op, int>(x != 0 ? 1 : 0, y != 0 ? 1 : 0) ? 1 : 0);
  });
}
void not_bool(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<uint8_t, uint8_t>(out, a, n, [](uint8_t x) { return static_cast<uint8_t>(x == 0 ? 1 : 0); });
}

template <ExprOp... ops>
void add_bool(Loops& loops) {
  ((loops.op[static_cast<size_t>(Base::boolean)][static_cast<size_t>(ops)] = bool_step<ops>), ...);
}
template <ExprOp... ops>
void add_bool_comparisons(Loops& loops) {
  ((loops.op[static_cast<size_t>(Base::boolean)][static_cast<size_t>(ops)] = compare_bools<ops>), ...);
}

void truth(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<uint8_t, uint8_t>(out, a, n, [](uint8_t x) { return static_cast<uint8_t>(x != 0 ? 1 : 0); });
}
void extend4(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<int8_t, uint8_t>(out, a, n, [](uint8_t x) { return static_cast<int8_t>(static_cast<int8_t>(x << 4) >> 4); });
}
void mask4(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<uint8_t, uint8_t>(out, a, n, [](uint8_t x) { return static_cast<uint8_t>(x & 0xf); });
}
void clz4(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<uint8_t, uint8_t>(out, a, n, [](uint8_t x) {
    return static_cast<uint8_t>((x < 8 ? 1 : 0) + (x < 4 ? 1 : 0) + (x < 2 ? 1 : 0) + (x < 1 ? 1 : 0));
  });
}

template <class T>
void select(void* out, const void* condition, const void* a, const void* b, int64_t n, const void*) {
  auto* const to = static_cast<typename Loose<T>::type*>(out);
  const auto* const which = static_cast<const uint8_t*>(condition);
  const auto *const x = static_cast<const typename Loose<T>::type*>(a), *const y = static_cast<const typename Loose<T>::type*>(b);
  STREW_NO_DEPENDENCE for (int64_t i = 0; i < n; ++i) {
    const T then = x[i], otherwise = y[i];
    to[i] = which[i] != 0 ? then : otherwise;
  }
}

}  // namespace

void add_integer_steps(Loops& loops) {
  add_integer<int8_t>(loops, Base::i8);
  add_integer<uint8_t>(loops, Base::u8);
  add_integer<int16_t>(loops, Base::i16);
  add_integer<uint16_t>(loops, Base::u16);
  add_integer<int32_t>(loops, Base::i32);
  add_integer<uint32_t>(loops, Base::u32);
  add_integer<int64_t>(loops, Base::i64);
  add_integer<uint64_t>(loops, Base::u64);
  using E = ExprOp;
  add_bool<E::add, E::mul, E::min, E::max, STREW_OPS_OF(BINARY_BITS)>(loops);
  add_bool_comparisons<STREW_OPS_OF(COMPARE)>(loops);
  loops.op[static_cast<size_t>(Base::boolean)][static_cast<size_t>(E::bit_not)] = not_bool;
  loops.truth = truth;
  loops.extend4 = extend4;
  loops.mask4 = mask4;
  loops.clz4 = clz4;
  loops.select = {select<uint8_t>, select<uint16_t>, select<uint32_t>, select<uint64_t>, select<Complex<uint64_t>>};
}

}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
