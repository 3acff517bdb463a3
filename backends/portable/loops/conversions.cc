// Conversions between the types that steps compute in, each rounded once from the exact value (docs/semantics.md section 4). A float that is
// narrower than f32 is made in two steps: the value as an f32 that is rounded to odd, so that its 24 bits tell the second step, which encodes,
// enough to round as if from the exact value (backends/lower/floats.cc).
// Tested by tests/differential.
#include "backends/portable/loops/small_float.h"
#include "backends/portable/loops/steps.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

/// bool, whose bytes are true unless they are 0.
struct Truth {
  uint8_t byte;
};

template <class T>
[[gnu::always_inline]] inline float odd_float(T value) {
  if constexpr (kIsFloat<T>) {
    if constexpr (sizeof(T) == 4) {
      return value;
    } else {
      const float nearest = static_cast<float>(value);
      const double back = nearest;
      const uint32_t too_far = magnitude(back) > magnitude(value) ? 1 : 0;
      const uint32_t inexact = back < value || back > value ? 1 : 0;
      return bits_as<float>((bits_as<uint32_t>(nearest) - too_far) | inexact);
    }
  } else if constexpr (sizeof(T) <= 2) {
    return static_cast<float>(value);
  } else if constexpr (sizeof(T) == 4) {
    return odd_float(static_cast<double>(value));
  } else {
    // From 2^53 on, a double cannot hold all bits. So the lowest 11 are cleared first, and the bit above them is set if any of them was.
    const uint64_t bits = static_cast<uint64_t>(value);
    const uint64_t size = value < T{0} ? 0 - bits : bits;
    const uint64_t folded = (bits & ~uint64_t{0x7ff}) | ((bits & 0x7ff) != 0 ? uint64_t{0x800} : 0);
    return odd_float(static_cast<double>(static_cast<T>(size >= uint64_t{1} << 53 ? folded : bits)));
  }
}

/// Truncates and saturates to [least, most]; `beyond` is most + 1. NaN gives 0.
template <class To, class From>
[[gnu::always_inline]] inline To saturate(From value, From least, From beyond, To smallest, To largest) {
  if (!(value == value)) return To{0};
  if (value >= beyond) return largest;
  if (value <= least) return smallest;
  return static_cast<To>(value);
}

template <class To, class From>
[[gnu::always_inline]] inline To to_integer(From value) {
  constexpr bool kSigned = static_cast<To>(-1) < To{0};
  constexpr int kDigits = 8 * static_cast<int>(sizeof(To)) - (kSigned ? 1 : 0);
  constexpr From kBeyond = static_cast<From>(uint64_t{1} << (kDigits - 1)) * 2;
  constexpr auto kLargest = static_cast<To>(~uint64_t{0} >> (64 - kDigits));
  if constexpr (sizeof(To) < 4) {
    // Through 32 bits, for which there are vector instructions.
    constexpr From kLeast = kSigned ? -kBeyond : From{0};
    const From most = static_cast<From>(kLargest);
    const From low = value > kLeast ? value : kLeast, cut = low < most ? low : most;
    return static_cast<To>(static_cast<int32_t>(value == value ? cut : From{0}));
  } else {
    return saturate<To, From>(value, kSigned ? -kBeyond : From{0}, kBeyond, kSigned ? static_cast<To>(~kLargest) : To{0},
                              kLargest);
  }
}

template <class To, class From>
[[gnu::always_inline]] inline To converted(From value) {
  if constexpr (kIsFloat<From> && !kIsFloat<To>)
    return to_integer<To, From>(value);
  else
    return static_cast<To>(value);
}

template <class From, class To>
void convert(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  if constexpr (__is_same(To, Truth)) {
    map<uint8_t, From>(out, a, n, [](From x) { return static_cast<uint8_t>(x != From{0} ? 1 : 0); });
  } else if constexpr (__is_same(From, Truth)) {
    map<To, uint8_t>(out, a, n, [](uint8_t x) { return static_cast<To>(x != 0 ? 1 : 0); });
  } else {
    map<To, From>(out, a, n, [](From x) { return converted<To, From>(x); });
  }
}
template <>
void convert<Truth, Truth>(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<uint8_t, uint8_t>(out, a, n, [](uint8_t x) { return x; });
}

template <class From>
void convert_odd(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  if constexpr (__is_same(From, Truth))
    map<float, uint8_t>(out, a, n, [](uint8_t x) { return x != 0 ? 1.0F : 0.0F; });
  else
    map<float, From>(out, a, n, [](From x) { return odd_float<From>(x); });
}

/// To codes of 4 bits, which hold [-8, 7] or [0, 15]. Integers wrap.
template <class From, bool is_signed>
void convert4(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  if constexpr (__is_same(From, Truth)) {
    map<uint8_t, uint8_t>(out, a, n, [](uint8_t x) { return static_cast<uint8_t>(x != 0 ? 1 : 0); });
  } else if constexpr (kIsFloat<From>) {
    map<uint8_t, From>(out, a, n, [](From x) {
      constexpr From kLeast = is_signed ? -8 : 0, kMost = is_signed ? 7 : 15;
      const From low = x > kLeast ? x : kLeast, cut = low < kMost ? low : kMost;
      return static_cast<uint8_t>(static_cast<int32_t>(x == x ? cut : From{0}) & 0xf);
    });
  } else {
    map<uint8_t, From>(out, a, n, [](From x) { return static_cast<uint8_t>(static_cast<uint32_t>(x) & 0xf); });
  }
}

template <class From, class... To>
void add_row(Loops& loops, Base from) {
  size_t to = 0;
  auto& row = loops.convert[static_cast<size_t>(from)];
  ((row[to++] = convert<From, To>), ...);
  auto& narrow = loops.convert4[static_cast<size_t>(from)];
  narrow = {convert4<From, true>, convert4<From, false>, convert_odd<From>};
}

template <class From>
void add_from(Loops& loops, Base from) {
  add_row<From, Truth, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, float, double>(loops, from);
}

const SmallFloat& format_of(const void* extra) { return *static_cast<const SmallFloat*>(extra); }

void decode8(void* out, const void* a, const void*, const void*, int64_t n, const void* extra) {
  const SmallFloat f = format_of(extra);
  map<float, uint8_t>(out, a, n, [&f](uint8_t x) { return decode_small(f, x); });
}
void encode8(void* out, const void* a, const void*, const void*, int64_t n, const void* extra) {
  const SmallFloat f = format_of(extra);
  map<uint8_t, float>(out, a, n, [&f](float x) { return static_cast<uint8_t>(encode_small(f, x)); });
}
void decode_bf16s(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<float, uint16_t>(out, a, n, [](uint16_t x) { return decode_bf16(x); });
}
void encode_bf16s(void* out, const void* a, const void*, const void*, int64_t n, const void*) {
  map<uint16_t, float>(out, a, n, [](float x) { return encode_bf16(x); });
}
void decode_f16s(void* out, const void* a, const void*, const void*, int64_t n, const void* extra) {
  const SmallFloat f = format_of(extra);
  const auto from = reinterpret_cast<int64_t>(a);
  auto* const to = static_cast<float*>(out);
  int64_t i = 0;
  for (; i + kHalves <= n; i += kHalves) decode_halves(f, to + i, from + 2 * i);
  for (; i < n; ++i) to[i] = decode_f16(f, load<uint16_t>(from + 2 * i));
}
void encode_f16s(void* out, const void* a, const void*, const void*, int64_t n, const void* extra) {
  const SmallFloat f = format_of(extra);
  const auto to = reinterpret_cast<int64_t>(out);
  const auto* const from = static_cast<const float*>(a);
  int64_t i = 0;
  for (; i + kHalves <= n; i += kHalves) encode_halves(f, to + 2 * i, from + i);
  for (; i < n; ++i) store<uint16_t>(to + 2 * i, encode_f16(f, from[i]));
}

}  // namespace

void add_conversions(Loops& loops) {
  add_from<Truth>(loops, Base::boolean);
  add_from<int8_t>(loops, Base::i8);
  add_from<uint8_t>(loops, Base::u8);
  add_from<int16_t>(loops, Base::i16);
  add_from<uint16_t>(loops, Base::u16);
  add_from<int32_t>(loops, Base::i32);
  add_from<uint32_t>(loops, Base::u32);
  add_from<int64_t>(loops, Base::i64);
  add_from<uint64_t>(loops, Base::u64);
  add_from<float>(loops, Base::f32);
  add_from<double>(loops, Base::f64);
  // Between complex dtypes part by part; the caller passes twice as many elements of the parts' type for those.
  loops.decode8 = decode8;
  loops.encode8 = encode8;
  loops.decode_bf16 = decode_bf16s;
  loops.encode_bf16 = encode_bf16s;
  loops.decode_f16 = decode_f16s;
  loops.encode_f16 = encode_f16s;
}

}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
