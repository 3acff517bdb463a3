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

#include "runtime/call/executor/trace.h"
#include "runtime/call/strategies/owners.h"
#include "runtime/call/strategies/select.h"

namespace strew::inline v0 {
namespace {

// The largest values that ExecutionLimits may have, which are also its defaults.
constexpr int64_t kBlock = 2048;  // positions: 8 KiB of keys
// The queue is applied when it has more entries, so the list has room for these and a block.
constexpr int64_t kQueue = 1024;
static_assert(kBlock == kDefaultLimits.owner_block && kQueue == kDefaultLimits.owner_queue);

class Scan {
 public:
  explicit Scan(const OwnerCall& call)
      : call_(call),
        owners_(call.threads, call.key_bytes, Bytes(call.limits.owner_piece_bytes)),
        block_(std::min(kBlock, call.limits.owner_block)),
        queue_(std::min(kQueue, call.limits.owner_queue)) {}

  void run(uint32_t me) const {
    std::array<uint32_t, kBlock> keys;                          // NOLINT: filled by the keys entry
    std::array<uint64_t, kQueue + kBlock + kSelectSlack> list;  // NOLINT: filled as far as it is read
    const Owners::Share share(owners_, me);
    int64_t queued = 0, origin = 0;
    KeyScan(call_.keys, *call_.args).for_each_block(call_.positions, block_, keys.data(), [&](int64_t begin, int64_t count) {
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

void run_owner(Team& team, Scratch&, const OwnerCall& call) {
  Scan scan(call);
  run_phase(
      team, call.limits, PhaseKind::owner, call.threads,
      [](void* s, int me) noexcept { static_cast<const Scan*>(s)->run(static_cast<uint32_t>(me)); }, &scan);
}

}  // namespace

bool apply_owner(const ApplyCall& call) { return apply_by_owners(call, run_owner, true); }

}  // namespace strew::inline v0
