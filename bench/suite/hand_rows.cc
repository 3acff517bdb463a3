// Row scatters and gathers. One loop with the row width as a constant; ahead of it a prefetch of the table's row; streaming stores for pure
// movement. Threads: equal shares of the positions (set, get: destinations are distinct), or for adds the owner scan (every thread reads
// all indices, queues those whose row is in its range, drains the queue in order with prefetch) and the column split (every thread takes
// its slice of every row). Sorted indices: each run of equal rows is summed in registers.
#include <algorithm>

#include "bench/suite/hand.h"
#include "bench/suite/hand_vector.h"

namespace strew::bench {
namespace {

enum class Do : uint8_t { set, get, add_f32, add_bf16, max_f32 };
enum class How : uint8_t { plain, prefetch, streaming };

struct Rows {
  char* table;
  char* other;  ///< the updates, or a gather's output
  int64_t count, table_rows;
};

template <Do kDo, bool kStreaming>
inline void row(char* __restrict to, const char* __restrict from, int64_t bytes) {
  if constexpr (kDo == Do::set || kDo == Do::get) {
    copy_vectors<kStreaming>(to, from, bytes);
  } else if constexpr (kDo == Do::add_bf16) {
    for (int64_t k = 0; k < bytes; k += kVector / 2) narrow(to + k, widen(to + k) + widen(from + k));
  } else {
    int64_t k = 0;
    for (; k + kVector <= bytes; k += kVector) {
      Floats &a = *reinterpret_cast<Floats*>(to + k), b = *reinterpret_cast<const Floats*>(from + k);
      a = kDo == Do::add_f32 ? a + b : (a < b ? b : a);
    }
    for (; k < bytes; k += 4) {
      float &a = *reinterpret_cast<float*>(to + k), b = *reinterpret_cast<const float*>(from + k);
      a = kDo == Do::add_f32 ? a + b : std::max(a, b);
    }
  }
}

template <Do kDo, int64_t kBytes, How kHow>
void walk(const Rows& r, const int32_t* ix, int64_t begin, int64_t end) {
  constexpr int64_t kAhead = kBytes >= 1024 ? 8 : kBytes >= 256 ? 16 : 32;
  constexpr bool kLooks = kHow == How::prefetch || (kHow == How::streaming && kDo == Do::get);
  for (int64_t i = begin; i < end; ++i) {
    if (kLooks) prefetch(r.table + std::max<int64_t>(ix[i + kAhead], 0) * kBytes, kBytes, kDo != Do::get);
    const int64_t at = ix[i];
    if (at < 0) continue;
    char *to = r.table + at * kBytes, *other = r.other + i * kBytes;
    if (kDo == Do::get)
      row<kDo, kHow == How::streaming>(other, to, kBytes);
    else
      row<kDo, kHow == How::streaming>(to, other, kBytes);
  }
  if (kHow == How::streaming) fence();
}

/// Thread t applies, in order, the updates whose row is in its range.
template <Do kDo, int64_t kBytes>
void own(const Rows& r, const int32_t* ix, int t, int threads) {
  constexpr int kQueue = 2048, kAhead = 16;
  const uint32_t low = static_cast<uint32_t>(r.table_rows * t / threads);
  const uint32_t length = static_cast<uint32_t>(r.table_rows * (t + 1) / threads) - low;
  int32_t position[kQueue + kAhead], key[kQueue + kAhead];
  int count = 0;
  const auto drain = [&] {
    for (int j = 0; j < kAhead; ++j) {
      key[count + j] = key[count > 0 ? count - 1 : 0];
      position[count + j] = position[count > 0 ? count - 1 : 0];
    }
    for (int j = 0; j < count; ++j) {
      prefetch(r.table + int64_t{key[j + kAhead]} * kBytes, kBytes, true);
      prefetch(r.other + int64_t{position[j + kAhead]} * kBytes, kBytes, false);
      row<kDo, false>(r.table + int64_t{key[j]} * kBytes, r.other + int64_t{position[j]} * kBytes, kBytes);
    }
    count = 0;
  };
  key[0] = position[0] = 0;
  for (int64_t i = 0; i < r.count; ++i) {
    position[count] = static_cast<int32_t>(i);
    key[count] = ix[i];
    count += static_cast<uint32_t>(ix[i]) - low < length;
    if (count == kQueue) drain();
  }
  drain();
}

/// Thread t takes its slice of every row.
template <Do kDo, int64_t kBytes>
void split_columns(const Rows& r, const int32_t* ix, int t, int threads) {
  const int64_t share = kBytes / threads / 64 * 64, first = t * share, width = t + 1 == threads ? kBytes - first : share;
  for (int64_t i = 0; i < r.count; ++i) {
    prefetch(r.table + int64_t{ix[i + 16]} * kBytes + first, width, true);
    row<kDo, false>(r.table + int64_t{ix[i]} * kBytes + first, r.other + i * kBytes + first, width);
  }
}

/// Sorted rows: a run belongs to the thread that owns its first update.
template <int64_t kBytes>
void sum_runs(const Rows& r, const int32_t* ix, int64_t begin, int64_t end) {
  constexpr int kGroup = 256 / kVector;  // rows are multiples of 256 bytes
  const auto in_run = [&](int64_t i) { return i > 0 && i < r.count && ix[i] == ix[i - 1]; };
  while (in_run(begin)) ++begin;
  while (in_run(end)) ++end;
  for (int64_t i = begin; i < end;) {
    int64_t next = i + 1;
    while (in_run(next)) ++next;
    prefetch(r.table + int64_t{ix[next]} * kBytes, std::min<int64_t>(kBytes, 512), true);
    char* to = r.table + int64_t{ix[i]} * kBytes;
    for (int64_t k = 0; k < kBytes; k += kGroup * kVector) {
      Floats sum[kGroup];
      for (int g = 0; g < kGroup; ++g) sum[g] = *reinterpret_cast<const Floats*>(to + k + g * kVector);
      for (int64_t j = i; j < next; ++j)
        for (int g = 0; g < kGroup; ++g) sum[g] += *reinterpret_cast<const Floats*>(r.other + j * kBytes + k + g * kVector);
      for (int g = 0; g < kGroup; ++g) *reinterpret_cast<Floats*>(to + k + g * kVector) = sum[g];
    }
    i = next;
  }
}

struct Adding {
  const Data& data;
  Rows rows;
  int threads;
  std::vector<HandWay>& ways;

  template <class F>
  void add(const char* name, F f) {
    ways.push_back(hand_way(name, threads, data.c.sets, [d = &data, r = rows, f](int64_t set) { f(r, d->row_set(set)); }));
  }
  /// f(rows, indices, begin, end) on equal shares.
  template <class F>
  void add_shares(const char* name, F f) {
    if (threads == 1) return add(name, [f](const Rows& r, const int32_t* ix) { f(r, ix, int64_t{0}, r.count); });
    add(name, [f, n = threads](const Rows& r, const int32_t* ix) {
      hand_pool().run(n, [&](int t) { f(r, ix, r.count * t / n, r.count * (t + 1) / n); });
    });
  }
  template <Do kDo, int64_t kBytes>
  void width() {
    constexpr bool kMoves = kDo == Do::set || kDo == Do::get;
    if (kMoves || threads == 1) {
      add_shares("rows", walk<kDo, kBytes, How::plain>);
      add_shares("rows, prefetch", walk<kDo, kBytes, How::prefetch>);
      if (kMoves && kStreams) add_shares("rows, streaming", walk<kDo, kBytes, How::streaming>);
    }
    if constexpr (kDo == Do::add_f32 && kBytes >= 256 && kBytes % 256 == 0) {
      if (data.c.spread == Spread::sorted) add_shares("runs summed", sum_runs<kBytes>);
    }
    if (kMoves || threads == 1) return;
    add("owner scan",
        [n = threads](const Rows& r, const int32_t* ix) { hand_pool().run(n, [&](int t) { own<kDo, kBytes>(r, ix, t, n); }); });
    if constexpr (kBytes >= 256) {
      add("column split", [n = threads](const Rows& r, const int32_t* ix) {
        hand_pool().run(n, [&](int t) { split_columns<kDo, kBytes>(r, ix, t, n); });
      });
    }
  }
};

}  // namespace

void add_row_ways(const Data& data, const HandTarget& target, int threads, std::vector<HandWay>& ways) {
  const Case& c = data.c;
  char* other = c.gathers() ? target.into : data.source.data();
  Adding a{data, {target.table, other, data.row_count(), data.table_rows()}, threads, ways};
  const int64_t bytes = c.row_bytes();
  if (c.action == Action::max) return bytes == 256 ? a.width<Do::max_f32, 256>() : void();
  if (c.reads_table() && c.dtype == DType::bf16) return bytes == 128 ? a.width<Do::add_bf16, 128>() : void();
  if (c.reads_table()) {
    switch (bytes) {
      case 4:
        return a.width<Do::add_f32, 4>();
      case 12:
        return a.width<Do::add_f32, 12>();
      case 16:
        return a.width<Do::add_f32, 16>();
      case 64:
        return a.width<Do::add_f32, 64>();
      case 256:
        return a.width<Do::add_f32, 256>();
      case 320:
        return a.width<Do::add_f32, 320>();
      case 4096:
        return a.width<Do::add_f32, 4096>();
      default:
        return;
    }
  }
  switch (bytes) {
#define STREW_WIDTH(W) \
  case W:              \
    return c.gathers() ? a.width<Do::get, W>() : a.width<Do::set, W>();
    STREW_WIDTH(12)
    STREW_WIDTH(64)
    STREW_WIDTH(256)
    STREW_WIDTH(512)
    STREW_WIDTH(1024)
    STREW_WIDTH(2048)
    STREW_WIDTH(4096)
#undef STREW_WIDTH
    default:
      return;
  }
}

HandWay run_time_strides(const Data& data, const HandTarget& target) {
  struct Shape {  // the compiler must not know them
    volatile int64_t dims[2], strides[2], width, step, components;
  };
  static Shape shape;
  const Case& c = data.c;
  shape.dims[0] = c.table[0];
  shape.dims[1] = c.table[1];
  shape.strides[0] = c.table[1] * c.table[2];
  shape.strides[1] = c.table[2];
  shape.width = c.table[2];
  shape.step = 1;
  shape.components = 2;
  float* table = reinterpret_cast<float*>(target.table);
  const float* source = reinterpret_cast<const float*>(data.source.data());
  return hand_way("run-time strides", 1, c.sets, [d = &data, table, source](int64_t set) {
    const int64_t components = shape.components, width = shape.width, step = shape.step;
    const int64_t dims[2] = {shape.dims[0], shape.dims[1]}, strides[2] = {shape.strides[0], shape.strides[1]};
    const int32_t* ix = d->set(set);
    for (int64_t i = 0; i < d->c.updates; ++i) {
      int64_t offset = 0;
      bool inside = true;
      for (int64_t k = 0; k < components; ++k) {
        const int64_t at = ix[i * components + k];
        inside &= at >= 0 && at < dims[k];
        offset += at * strides[k];
      }
      if (!inside) continue;
      for (int64_t k = 0; k < width; ++k) table[offset + k * step] += source[i * width + k];
    }
  });
}

}  // namespace strew::bench
