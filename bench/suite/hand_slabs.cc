// KV updates and blocks: a few rows of constant width in straight vector code, or one contiguous copy per slab (two where a circular update
// wraps); streaming stores and a prefetch of the next slab as further ways. And the two bounds: streaming over as many bytes, and for an
// operand elsewhere the copy of the whole table with streaming stores.
#include <algorithm>

#include "bench/suite/hand.h"
#include "bench/suite/hand_vector.h"

namespace strew::bench {
namespace {

enum class How : uint8_t { memcpy, vectors, streaming };

void copy(How how, char* to, const char* from, int64_t bytes) {
  if (how == How::memcpy) std::memcpy(to, from, static_cast<size_t>(bytes));
  if (how == How::vectors) copy_vectors<false>(to, from, bytes);
  if (how == How::streaming) copy_vectors<true>(to, from, bytes);
}

/// A stack of equal slabs: KV's (batch, head) or the rows of a block.
struct Slabs {
  char* table;
  const char* source;
  int64_t count, group;  ///< slabs, slabs per position
  int64_t pitch, bytes;  ///< of the table's slabs, of an update's
  int64_t row, rows;     ///< bytes per step of the position; the table's rows per slab
};

void copy_slabs(How how, const Slabs& s, const int32_t* positions, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t start = positions[i / s.group], straight = std::min(s.bytes, (s.rows - start) * s.row);
    char* slab = s.table + i * s.pitch;
    const char* from = s.source + i * s.bytes;
    copy(how, slab + start * s.row, from, straight);
    if (straight < s.bytes) copy(how, slab, from + straight, s.bytes - straight);
  }
  if (how == How::streaming) fence();
}

/// One row of 256 bytes per slab.
template <bool kStreaming, bool kAhead>
void decode(const Slabs& s, const int32_t* positions) {
  constexpr int64_t kRow = 256;
  const char* from = s.source;
  for (int64_t b = 0; b < s.count / s.group; ++b) {
    char* to = s.table + b * s.group * s.pitch + positions[b] * kRow;
    if (kAhead)
      for (int64_t h = 0; h < s.group; ++h) prefetch(to + h * s.pitch, kRow, true);
    for (int64_t h = 0; h < s.group; ++h, to += s.pitch, from += kRow) copy_vectors<kStreaming>(to, from, kRow);
  }
  if (kStreaming) fence();
}

void add_kv_ways(const Data& data, const HandTarget& target, int threads, std::vector<HandWay>& ways) {
  const Case& c = data.c;
  const int64_t row = c.row_bytes();
  const Slabs s{target.table, data.source.data(), c.table[0] * c.table[1], c.table[1], c.table[2] * row, c.source[2] * row,
                row,          c.table[2]};
  const auto add = [&](const char* name, auto f) {
    ways.push_back(hand_way(name, threads, c.sets, [d = &data, s, f](int64_t set) { f(s, d->set(set)); }));
  };
  const auto slabs = [&](const char* name, How how) {
    if (threads == 1) return add(name, [how](const Slabs& all, const int32_t* at) { copy_slabs(how, all, at, 0, all.count); });
    add(name, [how, n = threads](const Slabs& all, const int32_t* at) {
      hand_pool().run(n, [&](int t) { copy_slabs(how, all, at, all.count * t / n, all.count * (t + 1) / n); });
    });
  };
  if (c.source[2] == 1 && threads == 1) {
    add("rows", decode<false, false>);
    add("rows, prefetch", decode<false, true>);
    if (kStreams) add("rows, streaming", decode<true, false>);
  } else {
    slabs("slabs, memcpy", How::memcpy);
    slabs("slabs", How::vectors);
    if (kStreams) slabs("slabs, streaming", How::streaming);
  }
}

/// The window of a block: whole rows when its inner dims are full (one slab), rows of part of the inner dim else.
void add_block_ways(const Data& data, const HandTarget& target, int threads, std::vector<HandWay>& ways) {
  const Case& c = data.c;
  size_t dim = c.table.size();
  int64_t run = c.element_bytes();
  while (dim > 0 && c.table[dim - 1] == c.source[dim - 1]) run *= c.table[--dim];
  const bool one = dim == 0 || product({c.source.begin(), c.source.begin() + static_cast<std::ptrdiff_t>(dim) - 1}) == 1;
  if (!one && dim != 2) return;
  const int64_t bytes = run * (dim > 0 ? c.source[dim - 1] : 1), count = one ? 1 : c.source[0];
  const int64_t pitch = dim > 0 ? run * c.table[dim - 1] : 0;
  const auto slabs = [&](const char* name, How how) {
    ways.push_back(hand_way(name, threads, c.sets, [=, d = &data, n = threads, table = target.table](int64_t set) {
      const int32_t* at = d->set(set);
      char* to = table + at[dim - 1] * run + (one ? 0 : at[0] * pitch);
      if (one && dim == 2) to += at[0] * pitch;
      const auto part = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) copy(how, to + i * pitch, d->source.data() + i * bytes, bytes);
        if (how == How::streaming) fence();
      };
      n == 1 ? part(0, count) : hand_pool().run(n, [&](int t) { part(count * t / n, count * (t + 1) / n); });
    }));
  };
  if (threads > 1 && count == 1) return;
  slabs("slabs, memcpy", How::memcpy);
  slabs("slabs", How::vectors);
  if (kStreams) slabs("slabs, streaming", How::streaming);
}

/// Thread t's share of a streaming copy, or of streaming adds.
void stream(How how, bool adds, char* to, const char* from, int64_t bytes, int t, int threads) {
  const int64_t begin = bytes * t / threads / 64 * 64, end = t + 1 == threads ? bytes : bytes * (t + 1) / threads / 64 * 64;
  if (!adds) {
    copy(how, to + begin, from + begin, end - begin);
  } else {
    for (int64_t k = begin; k + kVector <= end; k += kVector)
      *reinterpret_cast<Floats*>(to + k) += *reinterpret_cast<const Floats*>(from + k);
  }
  if (how == How::streaming) fence();
}

}  // namespace

void add_slab_ways(const Data& data, const HandTarget& target, int threads, std::vector<HandWay>& ways) {
  const auto updates = [&](const HandTarget& at, int n, std::vector<HandWay>& out) {
    data.c.action == Action::kv ? add_kv_ways(data, at, n, out) : add_block_ways(data, at, n, out);
  };
  if (data.c.mode != Mode::copied) return updates(target, threads, ways);
  std::vector<HandWay> update;  // the copy dwarfs it: one thread does it, in the first way
  updates({target.copy, nullptr, nullptr}, 1, update);
  for (const How how : {How::memcpy, How::vectors, How::streaming}) {
    if (how == How::streaming && !kStreams) continue;
    const char* name = how == How::memcpy ? "memcpy, update" : how == How::vectors ? "copy, update" : "streaming copy, update";
    ways.push_back(hand_way(name, threads, data.c.sets,
                            [how, threads, to = target.copy, from = target.table, bytes = data.c.table_bytes(),
                             write = update.at(0).run](int64_t set) {
                              hand_pool().run(threads, [&](int t) { stream(how, false, to, from, bytes, t, threads); });
                              write(set, 1);
                            }));
  }
}

std::vector<HandWay> stream_ways(const Data& data, const HandTarget& target, int threads) {
  const Case& c = data.c;
  const bool adds = c.reads_table(), copies = c.mode == Mode::copied;
  const int64_t bytes = copies ? c.table_bytes() : c.source_bytes(), table = c.table_bytes();
  std::vector<HandWay> ways;
  const auto add = [&](const char* name, How how) {
    ways.push_back(hand_way(name, threads, c.sets, [=, source = data.source.data(), step = int64_t{0}](int64_t) mutable {
      // Walks the table, which is as cold as the case's rows; what of the source does not fit goes round a smaller window.
      const int64_t room = std::max<int64_t>(1, table - bytes), at = copies ? 0 : step++ * (7 * bytes + 4096) % room / 64 * 64;
      char* other = copies ? target.copy : c.gathers() ? target.into : const_cast<char*>(source);
      hand_pool().run(threads, [&](int t) {
        for (int64_t done = 0; done < bytes; done += table) {
          char *here = target.table + at, *there = other + done;
          const int64_t part = std::min(bytes - done, table);
          copies || c.gathers() ? stream(how, adds, there, here, part, t, threads)
                                : stream(how, adds, here, there, part, t, threads);
        }
      });
    }));
  };
  add("stream", How::vectors);
  if (!adds && kStreams) add("stream, streaming stores", How::streaming);
  return ways;
}

}  // namespace strew::bench
