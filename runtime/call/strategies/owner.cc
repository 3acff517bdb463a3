// Strategy owner: an owner scan with a queue, good for every skew and size while threads are few. Every thread computes the keys of all
// positions, one block at a time in its own first-level cache, keeps the positions that it owns in a small queue, and applies the queue
// when it is full. A destination has one owner, and an owner works in position order, so each destination gets its updates in order: the
// bits are those of the sequential loop for every number of threads.
//
// Threads exchange nothing: there is no barrier, no scratch, and no cache line that two threads write. The cost is nearly a nanosecond per
// position on every thread, which is why many threads partition instead (strategies/radix). Entries cannot report a fault: policy error has
// checked all indices before, and under the other policies the keys entry moves positions in bounds or drops them. Tested by
// tests/differential, tests/unit/runtime/call/strategies/owner_test.cc and, under tsan, tests/unit/runtime/call/executor/executor_test.cc.
#include <array>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "runtime/call/executor/phases.h"
#include "runtime/call/strategies/owners.h"

namespace strew::inline v0 {

// Selecting an owner's updates: no form branches on a key, because the owner of a key is as good as random. The plain form writes every entry
// and advances the end of the list only for keys of the share: 1.4 ns per key on Zen 3. The AVX2 form hashes and compares eight keys at once
// and moves those of the share together with a table of permutations: 0.3 ns. This is C++ and not generated code, since the loop is the same
// for all kernels.

int64_t select_owned_plain(const Owners::Share& share, const uint32_t* __restrict keys, int64_t count, uint32_t first,
                           uint64_t* __restrict list, int64_t queued) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t key = keys[i];
    list[queued] = (first + static_cast<uint64_t>(i)) | static_cast<uint64_t>(key) << 32;
    queued += static_cast<int64_t>(share.has(key)) & static_cast<int64_t>(key != kDroppedKey);
  }
  return queued;
}

#if defined(__x86_64__)

namespace {

/// Per set of lanes: the numbers of its lanes in ascending order, one byte each.
constexpr std::array<uint64_t, 256> kLanesOf = [] {
  constexpr unsigned kSets = 256;  // of eight keys, each of which is in or out
  std::array<uint64_t, kSets> lanes{};
  for (unsigned set = 0; set < kSets; ++set) {
    int at = 0;
    for (uint64_t lane = 0; lane < 8; ++lane)
      if ((set >> lane & 1) != 0) lanes[set] |= lane << (8 * at++);
  }
  return lanes;
}();

[[gnu::target("avx2")]] int64_t select_owned_avx2(const Owners::Share& share, const uint32_t* keys, int64_t count, uint32_t first,
                                                  uint64_t* list, int64_t queued) {
  const __m128i shift = _mm_cvtsi32_si128(share.shift);
  const __m256i factor = _mm256_set1_epi32(static_cast<int>(Owners::kHashFactor));
  const __m256i begin = _mm256_set1_epi32(static_cast<int>(share.first)),
                last = _mm256_set1_epi32(static_cast<int>(share.last - share.first));
  const __m256i dropped = _mm256_set1_epi32(-1), step = _mm256_set1_epi32(8);
  __m256i position = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i key = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys + i));
    const __m256i past = _mm256_sub_epi32(_mm256_mullo_epi32(_mm256_srl_epi32(key, shift), factor), begin);
    const __m256i mine =
        _mm256_andnot_si256(_mm256_cmpeq_epi32(key, dropped), _mm256_cmpeq_epi32(_mm256_min_epu32(past, last), past));
    const auto set = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(mine)));
    const __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<int64_t>(kLanesOf[set])));
    const __m256i k = _mm256_permutevar8x32_epi32(key, lanes), p = _mm256_permutevar8x32_epi32(position, lanes);
    // `low` has entries 0, 1, 4, 5 and `high` has 2, 3, 6, 7, since unpack instructions work on each 128-bit half separately.
    const __m256i low = _mm256_unpacklo_epi32(p, k), high = _mm256_unpackhi_epi32(p, k);
    auto* const to = reinterpret_cast<__m256i*>(list + queued);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low, high, 0x31));
    queued += std::popcount(set);
    position = _mm256_add_epi32(position, step);
  }
  return select_owned_plain(share, keys + i, count - i, first + static_cast<uint32_t>(i), list, queued);
}

}  // namespace

int64_t select_owned(const Owners::Share& share, const uint32_t* keys, int64_t count, uint32_t first, uint64_t* list,
                     int64_t queued) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return (has_avx2 ? select_owned_avx2 : select_owned_plain)(share, keys, count, first, list, queued);
}

#else

int64_t select_owned(const Owners::Share& share, const uint32_t* keys, int64_t count, uint32_t first, uint64_t* list,
                     int64_t queued) {
  return select_owned_plain(share, keys, count, first, list, queued);
}

#endif

namespace {

// The largest values that ExecutionLimits may have, which are also its defaults.
constexpr int64_t kBlock = 2048;  // positions: 8 KiB of keys
// The queue is applied when it has more entries, so the list has room for these and a block.
constexpr int64_t kQueue = 1024;
static_assert(kBlock == kDefaultLimits.owner_block && kQueue == kDefaultLimits.owner_queue);

class Scan {
 public:
  Scan(const ApplyCall& call, int threads)
      : call_(call),
        owners_(threads, call.key_bytes(), Bytes(call.limits().owner_piece_bytes)),
        block_(std::min(kBlock, call.limits().owner_block)),
        queue_(std::min(kQueue, call.limits().owner_queue)) {}

  void run(uint32_t me) const {
    std::array<uint32_t, kBlock> keys;                          // NOLINT: filled by the keys entry
    std::array<uint64_t, kQueue + kBlock + kSelectSlack> list;  // NOLINT: filled as far as it is read
    const Owners::Share share(owners_, me);
    int64_t queued = 0, origin = 0;
    call_.keys().for_each_block(call_.call.positions, block_, keys.data(), [&](int64_t begin, int64_t count) {
      // Entries of the queue have 31 bits for a position relative to `origin`.
      if (queued == 0) origin = begin;
      queued = select_owned(share, keys.data(), count, static_cast<uint32_t>(begin - origin), list.data(), queued);
      if (queued < queue_ && begin - origin < kFar) return;
      apply(list.data(), queued, origin);
      queued = 0;
    });
    apply(list.data(), queued, origin);
  }

 private:
  static constexpr int64_t kFar = int64_t{1} << 30;

  void apply(const uint64_t* list, int64_t queued, int64_t origin) const {
    strew_args args = call_.args;
    args.pos = list;
    args.n_list = origin;
    if (queued > 0) run_entry(call_.entry(STREW_ENTRY_list), args, 0, queued);
  }

  const ApplyCall& call_;
  Owners owners_;
  const int64_t block_, queue_;
};

void run_owner(const ApplyCall& call, Team& team) {
  const Scan scan(call, team.threads());
  run_phase(team, call.limits(), PhaseKind::owner, team.threads(), [&](int me) { scan.run(static_cast<uint32_t>(me)); });
}

}  // namespace

bool apply_owner(const ApplyCall& call) { return apply_by_owners(call, run_owner, true); }

}  // namespace strew::inline v0
