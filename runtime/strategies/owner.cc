// Owner scan with a queue (research/limits.md B and 7: good for every skew and size while threads are few). Every thread resolves the keys
// of all positions, a block at a time in its own first-level cache, keeps the positions it owns in a small queue, and applies the queue
// when it is full. A destination has one owner and an owner works in position order, so each destination sees its updates in order: the
// bits are the sequential loop's for every thread count.
//
// Threads exchange nothing: no barrier, no scratch, no line that two of them write. Cost: about a nanosecond per position on every thread,
// which is why many threads exchange instead (strategies/exchange). Nothing can fault here: policy error has checked all indices before,
// the other policies place or drop them in the keys entry. Tested by tests/differential, tests/unit/owner_test.cc and, under tsan,
// executor_test.cc.
#include "runtime/strategies/owner.h"

#include <array>

namespace strew {
namespace {

constexpr int64_t kBlock = 2048;  // positions: 8 KiB of keys
constexpr int64_t kQueue = 1024;  // applied when fuller, so it holds that and one block

class Scan {
 public:
  explicit Scan(const OwnerCall& call) : call_(call), owners_(call.threads, call.key_bytes) {}

  void run(uint32_t me) const {
    std::array<uint32_t, kBlock> keys;               // NOLINT: filled by the keys entry
    std::array<uint64_t, kQueue + kBlock + 1> list;  // NOLINT: filled as far as it is read
    const Owners::Share share(owners_, me);
    int64_t queued = 0, origin = 0;
    for (int64_t begin = 0; begin < call_.positions; begin += kBlock) {
      const int64_t count = std::min(kBlock, call_.positions - begin);
      resolve(keys.data(), begin, count);
      // Positions in the queue count from its origin, 31 bits wide.
      if (queued == 0) origin = begin;
      const auto selects = call_.drops ? &select<true> : &select<false>;
      queued = selects(share, keys.data(), count, static_cast<uint64_t>(begin - origin), list.data(), queued);
      if (queued < kQueue && begin - origin < kFar) continue;
      apply(list.data(), queued, origin);
      queued = 0;
    }
    apply(list.data(), queued, origin);
  }

 private:
  static constexpr int64_t kFar = int64_t{1} << 30;

  void resolve(uint32_t* keys, int64_t begin, int64_t count) const {
    strew_args args = *call_.args;
    args.key = keys;
    args.n_list = begin;
    strew_fault unused;
    call_.keys(&args, begin, begin + count, &unused);
  }

  /// Without branches: every key is written, the end moves on where it is mine.
  template <bool kDrops>
  static int64_t select(const Owners::Share share, const uint32_t* __restrict keys, int64_t count, uint64_t first,
                        uint64_t* __restrict list, int64_t queued) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t key = keys[i];
      list[queued] = (first + static_cast<uint64_t>(i)) | static_cast<uint64_t>(key) << 32;
      queued += static_cast<int64_t>(share.has(key)) & static_cast<int64_t>(!kDrops || key != kDroppedKey);
    }
    return queued;
  }

  void apply(const uint64_t* list, int64_t queued, int64_t origin) const {
    strew_args args = *call_.args;
    args.pos = list;
    args.n_list = origin;
    strew_fault unused;
    if (queued > 0) call_.list(&args, 0, queued, &unused);
  }

  const OwnerCall& call_;
  Owners owners_;
};

}  // namespace

void run_owner(Executor::Team& team, const OwnerCall& call) {
  Scan scan(call);
  team.run(
      call.threads, [](void* s, int me) { static_cast<const Scan*>(s)->run(static_cast<uint32_t>(me)); }, &scan);
}

}  // namespace strew
