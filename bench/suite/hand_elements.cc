// Element scatters: scalar loops, eight at a time, with a prefetch far ahead for tables out of cache. Threads: shares where destinations are
// distinct; an owner scan over interleaved 4 KiB blocks; for adds in any order a private table per thread, summed at the end.
#include "bench/suite/hand.h"
#include "bench/suite/hand_vector.h"

namespace strew::bench {
namespace {

struct Elements {
  char* table;
  const char* source;
  int64_t count, size;
};

template <class V, bool kAdd>
inline void apply(V& to, V value) {
  to = kAdd ? static_cast<V>(to + value) : value;
}

template <class V, bool kAdd, int kAhead>
void walk(const Elements& e, const int32_t* ix, int64_t begin, int64_t end) {
  V* table = reinterpret_cast<V*>(e.table);
  const V* source = reinterpret_cast<const V*>(e.source);
  int64_t i = begin;
  for (; i + 8 <= end; i += 8) {
    if (kAhead > 0 && i + 8 + kAhead <= end)
      for (int k = 0; k < 8; ++k) __builtin_prefetch(table + ix[i + kAhead + k], 1, 3);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) apply<V, kAdd>(table[ix[i + k]], source[i + k]);
  }
  for (; i < end; ++i) apply<V, kAdd>(table[ix[i]], source[i]);
}

/// Sorted indices: a run belongs to the thread that owns its first update, and is summed in a register.
template <class V>
void sum_runs(const Elements& e, const int32_t* ix, int64_t begin, int64_t end) {
  V* table = reinterpret_cast<V*>(e.table);
  const V* source = reinterpret_cast<const V*>(e.source);
  const auto in_run = [&](int64_t i) { return i > 0 && i < e.count && ix[i] == ix[i - 1]; };
  while (in_run(begin)) ++begin;
  while (in_run(end)) ++end;
  for (int64_t i = begin; i < end;) {
    const int32_t key = ix[i];
    V sum = table[key];
    for (; i < end && ix[i] == key; ++i) sum = static_cast<V>(sum + source[i]);
    table[key] = sum;
  }
}

/// Thread t owns every threads-th block of 4 KiB.
template <class V, bool kAdd>
void own(const Elements& e, const int32_t* ix, int t, int threads) {
  constexpr int kQueue = 2048, kAhead = 32;
  V* table = reinterpret_cast<V*>(e.table);
  const V* source = reinterpret_cast<const V*>(e.source);
  int32_t key[kQueue + kAhead];
  V value[kQueue];
  int count = 0;
  const auto drain = [&] {
    for (int j = 0; j < kAhead; ++j) key[count + j] = key[count > 0 ? count - 1 : 0];
    for (int j = 0; j < count; ++j) {
      __builtin_prefetch(table + key[j + kAhead], 1, 3);
      apply<V, kAdd>(table[key[j]], value[j]);
    }
    count = 0;
  };
  key[0] = 0;
  const uint32_t mask = static_cast<uint32_t>(threads - 1), me = static_cast<uint32_t>(t);
  for (int64_t i = 0; i < e.count; ++i) {
    key[count] = ix[i];
    value[count] = source[i];
    count += (static_cast<uint32_t>(ix[i]) >> 10 & mask) == me;
    if (count == kQueue) drain();
  }
  drain();
}

template <class V>
void add_private(const Elements& e, const int32_t* ix, int threads, std::vector<V>& tables) {
  const int64_t pitch = e.size + 64;
  tables.resize(static_cast<size_t>(pitch * threads));
  hand_pool().run(threads, [&](int t) {
    V* mine = tables.data() + pitch * t;
    std::memset(mine, 0, static_cast<size_t>(e.size) * sizeof(V));
    const Elements own{reinterpret_cast<char*>(mine), e.source, e.count, e.size};
    walk<V, true, 0>(own, ix, e.count * t / threads, e.count * (t + 1) / threads);
  });
  hand_pool().run(threads, [&](int t) {
    V* table = reinterpret_cast<V*>(e.table);
    for (int64_t i = e.size * t / threads; i < e.size * (t + 1) / threads; ++i) {
      V sum = 0;
      for (int k = 0; k < threads; ++k) sum += tables[static_cast<size_t>(pitch * k + i)];
      table[i] += sum;
    }
  });
}

/// A gather: `source` is what it writes.
template <class V, int kAhead>
void take(const Elements& e, const int32_t* ix, int64_t begin, int64_t end) {
  const V* table = reinterpret_cast<const V*>(e.table);
  V* into = reinterpret_cast<V*>(const_cast<char*>(e.source));
  for (int64_t i = begin; i < end; ++i) {
    if (kAhead > 0) __builtin_prefetch(table + ix[i + kAhead], 0, 3);
    into[i] = table[ix[i]];
  }
}

template <class V>
void add_ways(const Data& data, const Elements& e, int threads, std::vector<HandWay>& ways) {
  const int64_t sets = data.c.sets;
  const auto add = [&](const char* name, auto f) {
    ways.push_back(hand_way(name, threads, sets, [d = &data, e, f](int64_t set) { f(e, d->row_set(set)); }));
  };
  const auto shares = [&](const char* name, auto f) {
    add(name, [f, n = threads](const Elements& all, const int32_t* ix) {
      hand_pool().run(n, [&](int t) { f(all, ix, all.count * t / n, all.count * (t + 1) / n); });
    });
  };
  if (data.c.gathers()) {
    shares("elements", take<V, 0>);
    shares("elements, prefetch", take<V, 32>);
    return;
  }
  if (data.c.action == Action::along_add && threads > 1)
    shares("elements of rows", walk<V, true, 0>);  // a row's elements go to that row
  if (data.c.action == Action::set) {
    shares("elements", walk<V, false, 0>);
    shares("elements, prefetch", walk<V, false, 64>);
    if (threads > 1) {
      add("owner scan", [n = threads](const Elements& all, const int32_t* ix) {
        hand_pool().run(n, [&](int t) { own<V, false>(all, ix, t, n); });
      });
    }
    return;
  }
  if (data.c.spread == Spread::sorted) shares("runs summed", sum_runs<V>);
  if (threads == 1) {
    shares("elements", walk<V, true, 0>);
    shares("elements, prefetch", walk<V, true, 64>);
    return;
  }
  add("owner scan",
      [n = threads](const Elements& all, const int32_t* ix) { hand_pool().run(n, [&](int t) { own<V, true>(all, ix, t, n); }); });
  // Adding in another order is allowed where the result cannot show it.
  if ((data.c.mode == Mode::relaxed || data.c.dtype == DType::i32) && e.size <= 1 << 20) {
    add("private tables", [n = threads](const Elements& all, const int32_t* ix) {
      static std::vector<V> tables;
      add_private<V>(all, ix, n, tables);
    });
  }
}

}  // namespace

void add_element_ways(const Data& data, const HandTarget& target, int threads, std::vector<HandWay>& ways) {
  const Elements e{target.table, data.c.gathers() ? target.into : data.source.data(), data.row_count(), data.table_rows()};
  if (data.c.dtype == DType::i32)
    add_ways<uint32_t>(data, e, threads, ways);
  else
    add_ways<float>(data, e, threads, ways);
}

}  // namespace strew::bench
