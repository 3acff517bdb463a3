// Steps: loops over elements that lie side by side, out[i] = operator(a[i], b[i], c[i]). The output is never one of the inputs.
// Tested by tests/differential.
#pragma once

#include "backends/portable/loops/operators.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

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

template <class T, ExprOp op>
void binary_step(void* out, const void* a, const void* b, const void*, int64_t n, const void*) {
  map<T, T>(out, a, b, n, [](T x, T y) { return binary<op, T>(x, y); });
}

template <ExprOp op, class T>
[[gnu::always_inline]] inline bool compare(T a, T b) {
  if constexpr (kIsComplex<T>) {
    const bool equal = a.re == b.re && a.im == b.im;
    return op == ExprOp::eq ? equal : !equal;
  } else {
    if constexpr (op == ExprOp::eq) return a == b;
    if constexpr (op == ExprOp::ne) return a != b;
    if constexpr (op == ExprOp::lt) return a < b;
    if constexpr (op == ExprOp::le) return a <= b;
    if constexpr (op == ExprOp::gt) return a > b;
    if constexpr (op == ExprOp::ge) return a >= b;
  }
}

template <class T, ExprOp op>
void compare_step(void* out, const void* a, const void* b, const void*, int64_t n, const void*) {
  map<uint8_t, T>(out, a, b, n, [](T x, T y) { return static_cast<uint8_t>(compare<op, T>(x, y) ? 1 : 0); });
}

template <class T, ExprOp... ops>
void add_binary(Loops& loops, Base base) {
  ((loops.op[static_cast<size_t>(base)][static_cast<size_t>(ops)] = binary_step<T, ops>), ...);
}
template <class T, ExprOp... ops>
void add_compare(Loops& loops, Base base) {
  ((loops.op[static_cast<size_t>(base)][static_cast<size_t>(ops)] = compare_step<T, ops>), ...);
}
template <class T>
void add_comparisons(Loops& loops, Base base) {
  add_compare<T, STREW_OPS_OF(COMPARE)>(loops, base);
}

}  // namespace
}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
