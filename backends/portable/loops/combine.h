// Combiners: rows to = op(to, from), element after element. An Element says how elements of a dtype are read, combined and written. Rows are done
// in order and so are the elements of rows whose step is not their size, so that an element that two rows share is combined twice.
// Tested by tests/differential.
#pragma once

#include "backends/portable/loops/operators.h"
#include "backends/portable/loops/small_float.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

/// Elements whose bits are a number of type T.
template <class T>
struct Plain {
  using Value = T;
  static constexpr int64_t kBytes = sizeof(T);
  static T get(const SmallFloat&, int64_t place) { return load<T>(place); }
  static void set(const SmallFloat&, int64_t place, T value) { store<T>(place, value); }
};
struct Bool : Plain<uint8_t> {};
/// Bytes that hold a float.
struct Small8 {
  using Value = float;
  static constexpr int64_t kBytes = 1;
  static float get(const SmallFloat& f, int64_t place) { return decode_small(f, load<uint8_t>(place)); }
  static void set(const SmallFloat& f, int64_t place, float value) {
    store<uint8_t>(place, static_cast<uint8_t>(encode_small(f, value)));
  }
};
struct Bf16 {
  using Value = float;
  static constexpr int64_t kBytes = 2;
  static float get(const SmallFloat&, int64_t place) { return decode_bf16(load<uint16_t>(place)); }
  static void set(const SmallFloat&, int64_t place, float value) { store<uint16_t>(place, encode_bf16(value)); }
};
struct F16 {
  using Value = float;
  static constexpr int64_t kBytes = 2;
  static float get(const SmallFloat& f, int64_t place) { return decode_f16(f, load<uint16_t>(place)); }
  static void set(const SmallFloat& f, int64_t place, float value) { store<uint16_t>(place, encode_f16(f, value)); }
};
/// Codes of 4 bits, two in a byte (kBytes 0: there are no dense loops).
struct Nibble {
  static constexpr int64_t kBytes = 0;
  static unsigned code(int64_t place) { return static_cast<unsigned>(load<uint8_t>(place >> 1)) >> (4 * (place & 1)) & 0xf; }
  static void put(int64_t place, unsigned code) {
    const int at = 4 * static_cast<int>(place & 1);
    const unsigned byte = load<uint8_t>(place >> 1);
    store<uint8_t>(place >> 1, static_cast<uint8_t>((byte & ~(0xfU << at)) | (code & 0xf) << at));
  }
};
struct I4 : Nibble {
  using Value = int8_t;
  static int8_t get(const SmallFloat&, int64_t place) { return static_cast<int8_t>(static_cast<int8_t>(code(place) << 4) >> 4); }
  static void set(const SmallFloat&, int64_t place, int8_t value) { put(place, static_cast<unsigned>(value)); }
};
struct U4 : Nibble {
  using Value = uint8_t;
  static uint8_t get(const SmallFloat&, int64_t place) { return static_cast<uint8_t>(code(place)); }
  static void set(const SmallFloat&, int64_t place, uint8_t value) { put(place, value); }
};
struct F4 : Nibble {
  using Value = float;
  static float get(const SmallFloat& f, int64_t place) { return decode_small(f, code(place)); }
  static void set(const SmallFloat& f, int64_t place, float value) { put(place, encode_small(f, value)); }
};

/// Does an element hold fewer bits than its value, so that storing one changes it?
template <class Element>
inline constexpr bool kRounds = Element::kBytes != static_cast<int64_t>(sizeof(typename Element::Value));

template <class Element, ExprOp op>
[[gnu::always_inline]] inline void combine_element(const SmallFloat& f, int64_t to, int64_t from) {
  if constexpr (__is_same(Element, Bool))
    store<uint8_t>(to, binary_bool<op>(load<uint8_t>(to), load<uint8_t>(from)));
  else
    Element::set(f, to, binary<op, typename Element::Value>(Element::get(f, to), Element::get(f, from)));
}

/// A dense row. The elements are distinct, and the two sides share no memory, which the pragma tells the vectoriser.
template <class Element, ExprOp op>
[[gnu::always_inline]] inline void combine_dense(const SmallFloat& f, int64_t to, int64_t from, int64_t length) {
  constexpr int64_t kBytes = Element::kBytes;
  if constexpr (__is_same(Element, F16)) {
    int64_t i = 0;
    for (; i + kHalves <= length; i += kHalves) {
      float a[kHalves], b[kHalves];
      decode_halves(f, a, to + 2 * i);
      decode_halves(f, b, from + 2 * i);
      for (int64_t k = 0; k < kHalves; ++k) a[k] = binary<op, float>(a[k], b[k]);
      encode_halves(f, to + 2 * i, a);
    }
    for (; i < length; ++i) combine_element<Element, op>(f, to + 2 * i, from + 2 * i);
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < length; ++i) combine_element<Element, op>(f, to + kBytes * i, from + kBytes * i);
  }
}

/// Dense rows of a constant length, which the compiler unrolls.
template <class Element, ExprOp op, int64_t length>
void combine_known(const Rows& rows, const SmallFloat& f) {
  for (int64_t r = 0; r < rows.count; ++r) {
    prefetch(rows, r);
    combine_dense<Element, op>(f, rows.to.row(r), rows.from.row(r), length);
  }
}

/// Rows of one element. Where several in a row are the same element, its value stays in a register: a load would have to wait for the store.
template <class Element, ExprOp op>
[[gnu::always_inline]] inline void combine_elements(const Rows& rows, const SmallFloat& f) {
  if constexpr (__is_same(Element, Bool)) {
    for (int64_t r = 0; r < rows.count; ++r) {
      prefetch(rows, r);
      combine_element<Element, op>(f, rows.to.row(r), rows.from.row(r));
    }
  } else {
    typename Element::Value value{};
    int64_t last = 0;  // no element is there
    for (int64_t r = 0; r < rows.count; ++r) {
      prefetch(rows, r);
      const int64_t to = rows.to.row(r);
      if (to != last) value = Element::get(f, to);
      value = binary<op, typename Element::Value>(value, Element::get(f, rows.from.row(r)));
      Element::set(f, to, value);
      if constexpr (kRounds<Element>) value = Element::get(f, to);
      last = to;
    }
  }
}

template <class Element, ExprOp op>
void combine(const Rows& rows) {
  constexpr int64_t kBytes = Element::kBytes;
  static constexpr SmallFloat kNone{};
  const SmallFloat f = rows.format == nullptr ? kNone : *static_cast<const SmallFloat*>(rows.format);
  if (rows.length == 1) {
    return combine_elements<Element, op>(rows, f);
  }
  if (kBytes != 0 && rows.to.step == kBytes && rows.from.step == kBytes) {
    if constexpr (kBytes != 0 && (op == ExprOp::add || op == ExprOp::max)) {
      if (rows.length * kBytes == 64) return combine_known<Element, op, 64 / kBytes>(rows, f);
    }
    for (int64_t r = 0; r < rows.count; ++r) {
      prefetch(rows, r);
      combine_dense<Element, op>(f, rows.to.row(r), rows.from.row(r), rows.length);
    }
    return;
  }
  for (int64_t r = 0; r < rows.count; ++r) {
    const int64_t to = rows.to.row(r), from = rows.from.row(r);
    for (int64_t i = 0; i < rows.length; ++i) combine_element<Element, op>(f, to + i * rows.to.step, from + i * rows.from.step);
  }
}

template <class Element, ExprOp... ops>
void add_combiners(Loops& loops, DType dtype) {
  ((loops.combine[static_cast<size_t>(dtype)][static_cast<size_t>(ops)] = combine<Element, ops>), ...);
}

}  // namespace
}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
