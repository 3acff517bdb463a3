// Owner scan with a queue (research/limits.md B and 7: good for every skew and size while threads are few). Every thread resolves the keys
// of all positions, a block at a time in its own first-level cache, keeps the positions it owns in a small queue, and applies the queue
// when it is full. A destination has one owner and an owner works in position order, so each destination sees its updates in order: the
// bits are the sequential loop's for every thread count.
//
// Threads exchange nothing: no barrier, no scratch, no line that two of them write. Cost: most of a nanosecond per position on every thread,
// which is why many threads partition instead (strategies/radix). Nothing can fault here: policy error has checked all indices before,
// the other policies place or drop them in the keys entry. Tested by tests/differential, tests/unit/owner_test.cc and, under tsan,
// executor_test.cc.
#include <array>

#include "runtime/call/executor/trace.h"
#include "runtime/call/strategies/owners.h"
#include "runtime/call/strategies/select.h"

namespace strew {
namespace {

// The most that ExecutionLimits may say, and what it does say by default.
constexpr int64_t kBlock = 2048;  // positions: 8 KiB of keys
constexpr int64_t kQueue = 1024;  // applied when fuller, so it holds that and one block
static_assert(kBlock == kDefaultLimits.owner_block && kQueue == kDefaultLimits.owner_queue);

class Scan {
 public:
  explicit Scan(const OwnerCall& call)
      : call_(call),
        owners_(call.threads, call.key_bytes, call.limits.owner_piece_bytes),
        block_(std::min(kBlock, call.limits.owner_block)),
        queue_(std::min(kQueue, call.limits.owner_queue)) {}

  void run(uint32_t me) const {
    std::array<uint32_t, kBlock> keys;                          // NOLINT: filled by the keys entry
    std::array<uint64_t, kQueue + kBlock + kSelectSlack> list;  // NOLINT: filled as far as it is read
    const Owners::Share share(owners_, me);
    int64_t queued = 0, origin = 0;
    KeyScan(call_.keys, *call_.args).for_each_block(call_.positions, block_, keys.data(), [&](int64_t begin, int64_t count) {
      // Positions in the queue count from its origin, 31 bits wide.
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
    strew_args args = *call_.args;
    args.pos = list;
    args.n_list = origin;
    strew_fault unused;
    if (queued > 0) call_.list(&args, 0, queued, &unused);
  }

  const OwnerCall& call_;
  Owners owners_;
  const int64_t block_, queue_;
};

void run_owner(Executor::Team& team, Scratch&, const OwnerCall& call) {
  Scan scan(call);
  run_phase(
      team, call.limits, PhaseKind::owner, call.threads,
      [](void* s, int me) noexcept { static_cast<const Scan*>(s)->run(static_cast<uint32_t>(me)); }, &scan);
}

}  // namespace

bool apply_owner(const ApplyCall& call) { return apply_by_owners(call, run_owner); }

}  // namespace strew
