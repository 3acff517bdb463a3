// Owner scan with a queue (research/limits.md B and 7: good for every skew and size while threads are few). Every thread resolves the keys
// of all positions, a block at a time in its own first-level cache, keeps the positions it owns in a small queue, and applies the queue
// when it is full. A destination has one owner and an owner works in position order, so each destination sees its updates in order: the
// bits are the sequential loop's for every thread count.
//
// Where an update is one element, the queue carries it: the block has just been read in order, and looking each up again by its position
// would cost more than the copy (the list entry is given the copies for the updates, and their places for positions).
//
// Threads exchange nothing: no barrier, no scratch, no line that two of them write. Cost: about a nanosecond per position on every thread,
// which is why many threads exchange instead (strategies/exchange). Nothing can fault here: policy error has checked all indices before,
// the other policies place or drop them in the keys entry. Tested by tests/differential, tests/unit/owner_test.cc and, under tsan,
// executor_test.cc.
#include "runtime/strategies/owner.h"

#include <array>
#include <vector>

namespace strew {
namespace {

constexpr int64_t kBlock = 2048;  // positions: 8 KiB of keys
constexpr int64_t kQueue = 4096;  // applied when fuller, so it holds that and one block

class Scan {
 public:
  explicit Scan(const OwnerCall& call) : call_(call), owners_(call.threads, call.key_bytes) {
    if (call.plan != nullptr) carried_ = carried_bytes(*call.plan, call.args->dyn);
  }

  void run(uint32_t me) const {
    switch (carried_) {
      case 1:
        return carry<uint8_t>(me);
      case 2:
        return carry<uint16_t>(me);
      case 4:
        return carry<uint32_t>(me);
      case 8:
        return carry<uint64_t>(me);
      default:
        return look_up(me);
    }
  }

 private:
  static constexpr int64_t kFar = int64_t{1} << 30;
  using Keys = std::array<uint32_t, kBlock>;
  using List = std::array<uint64_t, kQueue + kBlock + 1>;

  void look_up(uint32_t me) const {
    Keys keys;  // NOLINT: filled by the keys entry
    List list;  // NOLINT: filled as far as it is read
    int64_t queued = 0, origin = 0;
    for (int64_t begin = 0; begin < call_.positions; begin += kBlock) {
      const int64_t count = resolve(keys.data(), begin);
      // Positions in the queue count from its origin, 31 bits wide.
      if (queued == 0) origin = begin;
      queued = select(me, keys.data(), count, static_cast<uint64_t>(begin - origin), list.data(), queued);
      if (queued < kQueue && begin - origin < kFar) continue;
      apply(list.data(), queued, origin, call_.args->data);
      queued = 0;
    }
    apply(list.data(), queued, origin, call_.args->data);
  }

  template <class Value>
  void carry(uint32_t me) const {
    const auto update = static_cast<size_t>(call_.plan->update(0));
    const Value* const updates = static_cast<const Value*>(call_.args->data[update]);
    Keys keys;                                       // NOLINT: filled by the keys entry
    List list;                                       // NOLINT: filled as far as it is read
    std::array<Value, kQueue + kBlock + 1> carried;  // NOLINT: filled as far as it is read
    std::vector<void*> data(call_.args->data, call_.args->data + call_.plan->tensors.size());
    data[update] = carried.data();
    int64_t queued = 0;
    for (int64_t begin = 0; begin < call_.positions; begin += kBlock) {
      const int64_t count = resolve(keys.data(), begin);
      queued = select(me, keys.data(), count, updates + begin, list.data(), carried.data(), queued);
      if (queued < kQueue) continue;
      apply(list.data(), queued, 0, data.data());
      queued = 0;
    }
    apply(list.data(), queued, 0, data.data());
  }

  /// The keys of the block that begins there; returns its length.
  int64_t resolve(uint32_t* keys, int64_t begin) const {
    const int64_t count = std::min(kBlock, call_.positions - begin);
    strew_args args = *call_.args;
    args.key = keys;
    args.n_list = begin;
    strew_fault unused;
    call_.keys(&args, begin, begin + count, &unused);
    return count;
  }

  static int64_t is_mine(const Owners& owners, uint32_t key, uint32_t me) {
    return static_cast<int64_t>(owners.of(key) == me) & static_cast<int64_t>(key != kDroppedKey);
  }

  /// Without branches: every key is written, the end moves on where it is mine.
  int64_t select(uint32_t me, const uint32_t* keys, int64_t count, uint64_t first, uint64_t* list, int64_t queued) const {
    const Owners owners = owners_;
    for (int64_t i = 0; i < count; ++i) {
      list[queued] = (first + static_cast<uint64_t>(i)) | static_cast<uint64_t>(keys[i]) << 32;
      queued += is_mine(owners, keys[i], me);
    }
    return queued;
  }

  /// The same, with the updates beside.
  template <class Value>
  int64_t select(uint32_t me, const uint32_t* __restrict keys, int64_t count, const Value* __restrict updates,
                 uint64_t* __restrict list, Value* __restrict carried, int64_t queued) const {
    const Owners owners = owners_;
    for (int64_t i = 0; i < count; ++i) {
      list[queued] = static_cast<uint64_t>(queued) | static_cast<uint64_t>(keys[i]) << 32;
      carried[queued] = updates[i];
      queued += is_mine(owners, keys[i], me);
    }
    return queued;
  }

  void apply(const uint64_t* list, int64_t queued, int64_t origin, void* const* data) const {
    strew_args args = *call_.args;
    args.data = data;
    args.pos = list;
    args.n_list = origin;
    strew_fault unused;
    if (queued > 0) call_.list(&args, 0, queued, &unused);
  }

  const OwnerCall& call_;
  Owners owners_;
  int64_t carried_ = 0;
};

}  // namespace

void run_owner(Executor::Team& team, const OwnerCall& call) {
  Scan scan(call);
  team.run(
      call.threads, [](void* s, int me) { static_cast<const Scan*>(s)->run(static_cast<uint32_t>(me)); }, &scan);
}

}  // namespace strew
