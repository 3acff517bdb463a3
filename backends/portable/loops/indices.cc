// Indices: loads of index values, what policies do with them, and the places that they lead to. Everything is computed in 64-bit integers that
// wrap, because a value that is out of bounds leads nowhere. Tested by tests/differential with indices at the extremes of every index type.
#include "backends/portable/loops/level.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

template <class T>
void load_indices(int64_t* out, const Side& from, int64_t n) {
  if (from.places != nullptr) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int64_t>(load<T>(from.base + from.places[i]));
  } else if (from.pitch == sizeof(T)) {
    const auto* const values = reinterpret_cast<const typename Loose<T>::type*>(from.base);
    STREW_NO_DEPENDENCE for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int64_t>(values[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int64_t>(load<T>(from.base + i * from.pitch));
  }
}

template <bool is_signed>
void load_nibbles(int64_t* out, const Side& from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t place = from.row(i);
    const unsigned code = static_cast<unsigned>(load<uint8_t>(place >> 1)) >> (4 * (place & 1)) & 0xf;
    out[i] = is_signed ? static_cast<int64_t>(code ^ 8U) - 8 : static_cast<int64_t>(code);
  }
}

void line(int64_t* out, int64_t first, int64_t step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = first + i * step;
}

void fold(int64_t* v, int64_t dim, int64_t n) {
  for (int64_t i = 0; i < n; ++i) v[i] += v[i] < 0 ? dim : 0;
}

void saturate(int64_t* v, int64_t n) {
  for (int64_t i = 0; i < n; ++i) v[i] = v[i] < 0 ? INT64_MAX : v[i];
}

void clamp(int64_t* v, int64_t least, int64_t most, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t low = v[i] > least ? v[i] : least;
    v[i] = low < most ? low : most;
  }
}

void wrap(int64_t* v, int64_t dim, bool is_u64, int64_t n) {
  const auto size = static_cast<uint64_t>(dim);
  for (int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<uint64_t>(v[i]);
    if (value < size) continue;
    if (is_u64) {
      v[i] = static_cast<int64_t>(value % size);
    } else {
      const int64_t rest = v[i] % dim;
      v[i] = rest < 0 ? rest + dim : rest;
    }
  }
}

void bound(uint8_t* inside, const int64_t* v, uint64_t most, int64_t n) {
  for (int64_t i = 0; i < n; ++i) inside[i] = static_cast<uint8_t>(inside[i] & (static_cast<uint64_t>(v[i]) <= most ? 1 : 0));
}

bool all(const uint8_t* inside, int64_t n) {
  uint8_t every = 1;
  for (int64_t i = 0; i < n; ++i) every = static_cast<uint8_t>(every & inside[i]);
  return every != 0;
}

bool any_beyond(const int64_t* v, uint64_t most, int64_t n) {
  uint64_t any = 0;
  for (int64_t i = 0; i < n; ++i) any |= static_cast<uint64_t>(v[i]) > most ? 1 : 0;
  return any != 0;
}

void advance(int64_t* places, const int64_t* v, int64_t stride, int64_t n) {
  if (stride > 0 && (stride & (stride - 1)) == 0) {  // there is no vector multiplication of 64 bits before AVX-512
    const int by = __builtin_ctzll(static_cast<unsigned long long>(stride));
    for (int64_t i = 0; i < n; ++i)
      places[i] = static_cast<int64_t>(static_cast<uint64_t>(places[i]) + (static_cast<uint64_t>(v[i]) << by));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    places[i] =
        static_cast<int64_t>(static_cast<uint64_t>(places[i]) + static_cast<uint64_t>(v[i]) * static_cast<uint64_t>(stride));
}

/// Wraps around: the place of an index that is dropped may be any number.
inline uint64_t distance(int64_t place, int64_t first) { return static_cast<uint64_t>(place) - static_cast<uint64_t>(first); }

void keys(uint32_t* out, const int64_t* places, const uint8_t* inside, int64_t first, int64_t unit, int64_t n) {
  if ((unit & (unit - 1)) == 0) {
    const int by = __builtin_ctzll(static_cast<unsigned long long>(unit));
    for (int64_t i = 0; i < n; ++i) {
      const auto key = static_cast<uint32_t>(distance(places[i], first) >> by);
      out[i] = inside[i] != 0 ? key : ~0U;
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    out[i] = inside[i] != 0 ? static_cast<uint32_t>(static_cast<int64_t>(distance(places[i], first)) / unit) : ~0U;
}

}  // namespace

void add_indices(Loops& loops) {
  const auto set = [&](DType dtype, IndexLoop loop) { loops.index[static_cast<size_t>(dtype)] = loop; };
  set(DType::i4, load_nibbles<true>);
  set(DType::u4, load_nibbles<false>);
  set(DType::i8, load_indices<int8_t>);
  set(DType::u8, load_indices<uint8_t>);
  set(DType::i16, load_indices<int16_t>);
  set(DType::u16, load_indices<uint16_t>);
  set(DType::i32, load_indices<int32_t>);
  set(DType::u32, load_indices<uint32_t>);
  set(DType::i64, load_indices<int64_t>);
  set(DType::u64, load_indices<uint64_t>);
  loops.line = line;
  loops.fold = fold;
  loops.saturate = saturate;
  loops.clamp = clamp;
  loops.wrap = wrap;
  loops.bound = bound;
  loops.all = all;
  loops.any_beyond = any_beyond;
  loops.advance = advance;
  loops.keys = keys;
}

}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
