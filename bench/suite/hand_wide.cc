// 16-bit adds summed in f32 and rounded once: chains. One backward pass over the indices links the updates of each row, so that a forward
// pass meets each row at its first update, sums its chain in registers in order, and stores it rounded. Untouched rows are never read.
// Threads: rows are dealt by their low bits, every thread links and sums its own.
#include <vector>

#include "bench/suite/hand.h"
#include "bench/suite/hand_vector.h"

namespace strew::bench {
namespace {

constexpr int64_t kBytes = 128;  // 64 numbers
constexpr int kVectors = kBytes / (kVector / 2);

struct Chains {
  std::vector<int32_t> head, next;
};

void sum_chain(char* to, const char* source, int32_t first, const int32_t* next) {
  Floats sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = widen(to + v * kVector / 2);
  for (int32_t i = first; i >= 0; i = next[i])
    for (int v = 0; v < kVectors; ++v) sum[v] += widen(source + i * kBytes + v * kVector / 2);
  for (int v = 0; v < kVectors; ++v) narrow(to + v * kVector / 2, sum[v]);
}

void link_and_sum(const Data& d, char* table, const int32_t* rows, Chains& chains, int t, int threads) {
  constexpr int64_t kAhead = 16;
  const auto mine = [&](int32_t row) { return row % threads == t; };
  int32_t *head = chains.head.data(), *next = chains.next.data();
  for (int64_t i = 0; i < d.row_count(); ++i)
    if (mine(rows[i])) head[rows[i]] = -1;
  for (int32_t i = static_cast<int32_t>(d.row_count()); i-- > 0;) {
    if (!mine(rows[i])) continue;
    next[i] = head[rows[i]];
    head[rows[i]] = i;
  }
  for (int32_t i = 0; i < d.row_count(); ++i) {
    prefetch(table + int64_t{rows[i + kAhead]} * kBytes, kBytes, true);
    if (mine(rows[i]) && head[rows[i]] == i) sum_chain(table + int64_t{rows[i]} * kBytes, d.source.data(), i, next);
  }
}

}  // namespace

void add_wide_ways(const Data& data, const HandTarget& target, int threads, std::vector<HandWay>& ways) {
  if (data.c.row_bytes() != kBytes) return;
  static Chains chains;
  chains.head.resize(static_cast<size_t>(data.table_rows()));
  chains.next.resize(static_cast<size_t>(data.row_count()));
  ways.push_back(hand_way("chains", threads, data.c.sets, [d = &data, table = target.table, threads](int64_t set) {
    hand_pool().run(threads, [&](int t) { link_and_sum(*d, table, d->row_set(set), chains, t, threads); });
  }));
}

std::vector<HandWay> hand_ways(const Data& data, const HandTarget& target, int threads) {
  std::vector<HandWay> ways;
  const Case& c = data.c;
  if (c.action == Action::kv || c.action == Action::block)
    add_slab_ways(data, target, threads, ways);
  else if (c.mode == Mode::wide)
    add_wide_ways(data, target, threads, ways);
  else if (c.row_elements() == 1)
    add_element_ways(data, target, threads, ways);
  else
    add_row_ways(data, target, threads, ways);
  return ways;
}

}  // namespace strew::bench
