// Moves: rows whose elements are copied as they are. Dense rows are copied as bytes: short ones by a few loads and stores of constant width, the
// last of which overlaps the one before, because a call of memcpy would cost more than the copy; long ones by memcpy. Rows with other strides
// are copied element by element. Elements of less than a byte are taken out of their bytes and put into them one by one.
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backends/portable/loops/level.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

template <int bytes>
struct Bytes {
  unsigned char byte[bytes];
};

template <int bytes>
[[gnu::always_inline]] inline void copy(int64_t to, int64_t from) {
  __builtin_memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
}

/// Rows of a constant number of bytes.
template <int bytes>
void move_known(const Rows& rows) {
  for (int64_t r = 0; r < rows.count; ++r) {
    prefetch(rows, r);
    copy<bytes>(rows.to.row(r), rows.from.row(r));
  }
}

/// Rows of at least `width` bytes and at most twice as many.
template <int width>
void move_two(const Rows& rows, int64_t bytes) {
  for (int64_t r = 0; r < rows.count; ++r) {
    prefetch(rows, r);
    const int64_t to = rows.to.row(r), from = rows.from.row(r);
    Bytes<width> first, last;
    __builtin_memcpy(&first, reinterpret_cast<const void*>(from), width);
    __builtin_memcpy(&last, reinterpret_cast<const void*>(from + bytes - width), width);
    __builtin_memcpy(reinterpret_cast<void*>(to), &first, width);
    __builtin_memcpy(reinterpret_cast<void*>(to + bytes - width), &last, width);
  }
}

constexpr int64_t kChunk = 64;

/// Rows of more than a chunk.
void move_chunks(const Rows& rows, int64_t bytes) {
  for (int64_t r = 0; r < rows.count; ++r) {
    prefetch(rows, r);
    const int64_t to = rows.to.row(r), from = rows.from.row(r);
    for (int64_t at = 0; at + kChunk <= bytes; at += kChunk) copy<kChunk>(to + at, from + at);
    copy<kChunk>(to + bytes - kChunk, from + bytes - kChunk);
  }
}

void move_long(const Rows& rows, int64_t bytes) {
  for (int64_t r = 0; r < rows.count; ++r) {
    prefetch(rows, r);
    std::memcpy(reinterpret_cast<void*>(rows.to.row(r)), reinterpret_cast<const void*>(rows.from.row(r)),
                static_cast<size_t>(bytes));
  }
}

/// Bytes, with stores that bypass the caches where the machine has them, to whole lines of the destination.
void stream_bytes(int64_t to, int64_t from, int64_t bytes) {
#if defined(__x86_64__)
  constexpr int64_t kVector = 16;
  const int64_t misaligned = -to & (kChunk - 1), head = misaligned < bytes ? misaligned : bytes;
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), static_cast<size_t>(head));
  int64_t at = head;
  for (; at + kChunk <= bytes; at += kChunk) {
    __m128i part[kChunk / kVector];
    for (int i = 0; i < kChunk / kVector; ++i) part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at) + i);
    for (int i = 0; i < kChunk / kVector; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to + at) + i, part[i]);
  }
  std::memcpy(reinterpret_cast<void*>(to + at), reinterpret_cast<const void*>(from + at), static_cast<size_t>(bytes - at));
#else
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), static_cast<size_t>(bytes));
#endif
}

/// Dense rows of bytes.
void stream(const Rows& rows) {
  for (int64_t r = 0; r < rows.count; ++r) stream_bytes(rows.to.row(r), rows.from.row(r), rows.length);
}

void fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// Rows that begin with a cache line bypass the caches; a part of a line would be read and written for it.
void stream_rows(const Rows& rows, int64_t bytes) {
  for (int64_t r = 0; r < rows.count; ++r) {
    const int64_t to = rows.to.row(r), from = rows.from.row(r);
    if (rows.ahead < 0) prefetch(rows, r);  // not of what is stored past the caches
    if ((to & (kChunk - 1)) == 0)
      stream_bytes(to, from, bytes);
    else
      std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), static_cast<size_t>(bytes));
  }
}

constexpr int64_t kMemcpyBytes = 512;

void move_bytes(const Rows& rows, int64_t bytes) {
  if (rows.streams && bytes >= kChunk) return stream_rows(rows, bytes);
  switch (bytes) {
    case 1:
      return move_known<1>(rows);
    case 2:
      return move_known<2>(rows);
    case 4:
      return move_known<4>(rows);
    case 8:
      return move_known<8>(rows);
    case 16:
      return move_known<16>(rows);
    case 32:
      return move_known<32>(rows);
    case 64:
      return move_known<64>(rows);
    case 128:
      return move_known<128>(rows);
    default:
      break;
  }
  if (bytes > kMemcpyBytes) return move_long(rows, bytes);
  if (bytes > kChunk) return move_chunks(rows, bytes);
  if (bytes > 32) return move_two<32>(rows, bytes);
  if (bytes > 16) return move_two<16>(rows, bytes);
  if (bytes > 8) return move_two<8>(rows, bytes);
  if (bytes > 4) return move_two<4>(rows, bytes);
  if (bytes > 2) return move_two<2>(rows, bytes);
}

/// Elements of `size` bytes.
template <int size>
void move(const Rows& rows) {
  if (rows.length == 1) return move_known<size>(rows);
  if (rows.to.step == size && rows.from.step == size) return move_bytes(rows, rows.length * size);
  for (int64_t r = 0; r < rows.count; ++r) {
    prefetch(rows, r);
    const int64_t to = rows.to.row(r), from = rows.from.row(r), to_step = rows.to.step, from_step = rows.from.step;
    if (from_step == 0) {
      Bytes<size> value;
      __builtin_memcpy(&value, reinterpret_cast<const void*>(from), size);
      for (int64_t i = 0; i < rows.length; ++i) __builtin_memcpy(reinterpret_cast<void*>(to + i * to_step), &value, size);
    } else {
      for (int64_t i = 0; i < rows.length; ++i) copy<size>(to + i * to_step, from + i * from_step);
    }
  }
}

/// The codes of `bits` bits at a place.
template <int bits>
struct Packed {
  static constexpr int kShift = bits == 4 ? 1 : 2, kIn = (1 << kShift) - 1, kMask = (1 << bits) - 1;
  static unsigned get(int64_t place) {
    return static_cast<unsigned>(load<uint8_t>(place >> kShift)) >> (bits * static_cast<int>(place & kIn)) & kMask;
  }
  static void set(int64_t place, unsigned code) {
    const int at = bits * static_cast<int>(place & kIn);
    const unsigned byte = load<uint8_t>(place >> kShift);
    store<uint8_t>(place >> kShift, static_cast<uint8_t>((byte & ~(static_cast<unsigned>(kMask) << at)) | code << at));
  }
};

template <class Move>
[[gnu::always_inline]] inline void one_by_one(const Rows& rows, const Move& element) {
  for (int64_t r = 0; r < rows.count; ++r) {
    const int64_t to = rows.to.row(r), from = rows.from.row(r);
    for (int64_t i = 0; i < rows.length; ++i) element(to + i * rows.to.step, from + i * rows.from.step);
  }
}

template <int bits>
void move_packed(const Rows& rows) {
  one_by_one(rows, [](int64_t to, int64_t from) { Packed<bits>::set(to, Packed<bits>::get(from)); });
}
template <int bits>
void pack(const Rows& rows) {
  one_by_one(rows, [](int64_t to, int64_t from) { Packed<bits>::set(to, load<uint8_t>(from) & Packed<bits>::kMask); });
}
template <int bits>
void unpack(const Rows& rows) {
  one_by_one(rows, [](int64_t to, int64_t from) { store<uint8_t>(to, static_cast<uint8_t>(Packed<bits>::get(from))); });
}

}  // namespace

void add_moves(Loops& loops) {
  loops.move = {move<1>, move<2>, move<4>, move<8>, move<16>};
  loops.pack4 = pack<4>;
  loops.unpack4 = unpack<4>;
  loops.move4 = move_packed<4>;
  loops.pack2 = pack<2>;
  loops.unpack2 = unpack<2>;
  loops.move2 = move_packed<2>;
  loops.stream = stream;
  loops.fence = fence;
}

}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
