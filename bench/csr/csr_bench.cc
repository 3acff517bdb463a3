// What csr() costs: `./dev bench csr`.
//
// Random i64 indices of E positions into S segments; offsets and permutation are i64. Beside it, on one thread each and without the check of the indices: the
// textbook's counting sort; a radix sort from the least digit on, of pairs (index, position) of 4 bytes each, 11 bits at a time; and std::stable_sort of the
// positions. `ns_each` is per position, on one thread; x_NAME is a way's time over that of csr() on one thread in the same round. All results are compared
// before anything is timed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "strew/csr.h"

namespace strew::bench {
namespace {

struct Edges {
  int64_t positions, segments;
  std::vector<int64_t> indices, offsets, permutation;

  Edges(int64_t e, int64_t s)
      : positions(e),
        segments(s),
        indices(static_cast<size_t>(e)),
        offsets(static_cast<size_t>(s) + 1),
        permutation(indices.size()) {
    std::mt19937_64 random(7);
    for (int64_t& index : indices) index = static_cast<int64_t>(random() % static_cast<uint64_t>(s));
  }
};

bool sort_by_csr(Edges& e, int threads) {
  const int64_t ends = e.segments + 1;
  return csr({e.indices.data(), {&e.positions, 1}}, {e.offsets.data(), {&ends, 1}}, {e.permutation.data(), {&e.positions, 1}},
             {threads})
      .ok();
}

void count_offsets(Edges& e) {
  std::fill(e.offsets.begin(), e.offsets.end(), 0);
  for (const int64_t index : e.indices) ++e.offsets[static_cast<size_t>(index) + 1];
  std::partial_sum(e.offsets.begin(), e.offsets.end(), e.offsets.begin());
}

void sort_by_counting(Edges& e) {
  count_offsets(e);
  for (size_t p = 0; p < e.indices.size(); ++p)
    e.permutation[static_cast<size_t>(e.offsets[static_cast<size_t>(e.indices[p])]++)] = static_cast<int64_t>(p);
  std::move_backward(e.offsets.begin(), e.offsets.end() - 1, e.offsets.end());
  e.offsets[0] = 0;
}

void sort_by_radix(Edges& e) {
  constexpr int kBits = 11;
  constexpr uint64_t kDigits = uint64_t{1} << kBits;
  const size_t count = e.indices.size();
  std::vector<uint64_t> from(count), to(count);  // index << 32 | position
  for (size_t p = 0; p < count; ++p) from[p] = static_cast<uint64_t>(e.indices[p]) << 32 | p;
  for (int shift = 0; (e.segments - 1) >> shift > 0; shift += kBits) {
    const auto digit = [&](uint64_t pair) { return pair >> (32 + shift) & (kDigits - 1); };
    std::array<uint32_t, kDigits> next{};
    for (const uint64_t pair : from) ++next[digit(pair)];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), 0U);
    for (const uint64_t pair : from) to[next[digit(pair)]++] = pair;
    from.swap(to);
  }
  for (size_t i = 0; i < count; ++i) e.permutation[i] = static_cast<int64_t>(from[i] & 0xffffffff);
  count_offsets(e);
}

void sort_by_comparing(Edges& e) {
  std::iota(e.permutation.begin(), e.permutation.end(), 0);
  std::stable_sort(e.permutation.begin(), e.permutation.end(),
                   [&](int64_t a, int64_t b) { return e.indices[static_cast<size_t>(a)] < e.indices[static_cast<size_t>(b)]; });
  count_offsets(e);
}

void run(benchmark::State& state, int64_t positions, int64_t segments) {
  Edges mine(positions, segments), theirs(positions, segments);
  sort_by_comparing(theirs);
  const auto agrees = [&] { return mine.offsets == theirs.offsets && mine.permutation == theirs.permutation; };
  for (const int threads : {1, 2})
    if (!sort_by_csr(mine, threads) || !agrees()) return fail(state, "csr() and std::stable_sort differ");
  for (const auto sort : {sort_by_counting, sort_by_radix}) {
    std::fill(mine.permutation.begin(), mine.permutation.end(), 0);
    sort(mine);
    if (!agrees()) return fail(state, "a hand-written sort and std::stable_sort differ");
  }
  const auto by_csr = [&](int threads) {
    return [&mine, threads](int64_t calls) {
      for (int64_t i = 0; i < calls; ++i) any_failed() |= !sort_by_csr(mine, threads);
    };
  };
  const auto by_hand = [&](void (*sort)(Edges&)) {
    return [&mine, sort](int64_t calls) {
      for (int64_t i = 0; i < calls; ++i) sort(mine);
    };
  };
  const std::vector<Way> ways = {{"one", by_csr(1), {}, {}},
                                 {"two_threads", by_csr(2), {}, {}},
                                 {"counting", by_hand(sort_by_counting), {}, {}},
                                 {"radix", by_hand(sort_by_radix), {}, {}},
                                 {"stable_sort", by_hand(sort_by_comparing), {}, {}}};
  const Turns turns = time_in_turns(state, ways, 1, {});
  state.counters["ns_each"] = turns.medians()[0] / static_cast<double>(positions);
  for (size_t way = 1; way < ways.size(); ++way) state.counters["x_" + ways[way].name] = turns.ratio(way, 0);
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  using namespace strew;
  const std::pair<int64_t, int64_t> sizes[] = {
      {4000, 500}, {300'000, 10'000}, {1'000'000, 1000}, {1'200'000, 170'000}, {8'000'000, 2'000'000}};
  for (const auto& [positions, segments] : sizes) {
    const std::string name = std::to_string(positions) + "_into_" + std::to_string(segments);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [e = positions, s = segments](benchmark::State& state) { bench::run(state, e, s); })
        ->UseManualTime()
        ->Iterations(9);
  }
  return bench::run_all(argc, argv);
}
