// Level: what the sources of this folder share. Each is compiled once per level of the CPU, with STREW_PORTABLE_LEVEL as the name of a namespace
// (cmake/strew_portable.cmake). So that no code of one level is taken for another's, everything here is internal to its source file, and
// nothing calls inline functions of other headers. Tested by tests/unit/backends/portable/portable_test.cc and tests/differential.
#pragma once

#include <cstdint>

#include "backends/portable/loops.h"

#ifndef STREW_PORTABLE_LEVEL
#define STREW_PORTABLE_LEVEL baseline
#endif

/// Before a loop: no iteration needs what another one stores.
#if defined(__clang__)
#define STREW_NO_DEPENDENCE
#else
#define STREW_NO_DEPENDENCE _Pragma("GCC ivdep")
#endif

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {

// Each source's part of the table.
void add_moves(Loops& loops);
void add_combiners_of_integers(Loops& loops);
void add_combiners_of_floats(Loops& loops);
void add_steps(Loops& loops);
void add_indices(Loops& loops);

namespace {

template <class T>
struct [[gnu::packed, gnu::may_alias]] Complex {
  T re, im;
};

/// T in memory that may hold anything at any address.
template <class T>
struct Loose {
  using type [[gnu::aligned(1), gnu::may_alias]] = T;
};
template <class T>
struct Loose<Complex<T>> {
  using type = Complex<T>;
};

template <class T>
[[gnu::always_inline]] inline T load(int64_t place) {
  return *reinterpret_cast<const typename Loose<T>::type*>(place);
}
template <class T>
[[gnu::always_inline]] inline void store(int64_t place, T value) {
  *reinterpret_cast<typename Loose<T>::type*>(place) = value;
}

template <class To, class From>
[[gnu::always_inline]] inline To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

[[gnu::always_inline]] inline void prefetch(const Rows& rows, int64_t r) {
  constexpr int64_t kLine = 64;
  if (rows.ahead > 0 && r + rows.ahead < rows.count) {
    const int64_t to = rows.to.row(r + rows.ahead);
    for (int32_t line = 0; line < rows.lines; ++line) __builtin_prefetch(reinterpret_cast<const void*>(to + line * kLine), 1);
  }
  if (rows.ahead < 0 && r - rows.ahead < rows.count) {
    const int64_t from = rows.from.row(r - rows.ahead);
    for (int32_t line = 0; line < rows.lines; ++line) __builtin_prefetch(reinterpret_cast<const void*>(from + line * kLine), 0);
  }
}

}  // namespace
}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
