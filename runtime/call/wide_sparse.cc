// The result is cut into granules: rows, or blocks of at least 16 elements. Each thread owns a part of the granules (strategies/owners) and
// takes these steps: collect its updates from the keys of all positions; link the updates of each granule into a chain; walk over the
// chains in the order of their first updates. For each chain it widens the granule into an accumulator (init entry of the fold), folds the
// chain in order (list entry), and rounds the accumulator into the result (range entry of the narrowing, restricted to the granule). So a
// call moves bytes in proportion to its updates, not to the table. Up to kMostSlots granules are widened, folded and rounded together, so
// that the list entry gets enough updates to prefetch for.
//
// Each destination has one owner, which folds its updates in order, so the results have the bits of one thread and of runtime/call/wide.
// Entries index the accumulator as if it were whole; they get an address from which their offsets lead into the granule's. Scratch per
// thread: 12 bytes per position and 4 per granule. A call that would need more than the schedule's scratch_mib is left to
// runtime/call/wide. Tested by tests/unit/runtime/call/wide_sparse_test.cc and tests/differential.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "base/machine.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/strategies/owners.h"
#include "runtime/call/wide.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kLeastGranule = 16;  // elements: f32 elements of a cache line
constexpr int64_t kMostSlots = 256;

/// The address `base` for which base + offset is `at`, where `offset` is what entries add for the whole tensor.
void* shifted(char* at, int64_t offset) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(at) - static_cast<uintptr_t>(offset));
}

/// Sizes of a call's scratch. Each thread has a map (granule -> its first update + 1), the list of the updates it owns, the links between
/// the updates of a granule, the accumulators of the granules in work, and the arrays of pointers that entries take.
struct Layout {
  int64_t unit, per_granule, granule, granules, wide_bytes;
  int64_t slots;      ///< how many accumulators there are, of a granule each
  int granule_shift;  ///< key >> granule_shift is the number of the granule
  int64_t map_bytes, list_bytes, next_bytes, accumulator_bytes, thread_bytes;

  Layout(const SparseWidenCall& call, const ExecutionLimits& limits) {
    wide_bytes = call.fold.result_bytes;
    unit = key_elements(call.fold.kernel, call.fold_args.dyn);
    per_granule = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>((kLeastGranule + unit - 1) / unit)));
    granule_shift = std::countr_zero(static_cast<uint64_t>(per_granule));
    granule = unit * per_granule;
    granules = (call.elements + granule - 1) / granule;
    slots = std::clamp<int64_t>(limits.wide_accumulator_bytes / (granule * wide_bytes), 1, kMostSlots);
    map_bytes = padded_bytes(granules * static_cast<int64_t>(sizeof(uint32_t)));
    list_bytes = padded_bytes((call.positions + 1) * static_cast<int64_t>(sizeof(uint64_t)));
    next_bytes = padded_bytes(call.positions * static_cast<int64_t>(sizeof(uint32_t)));
    accumulator_bytes = padded_bytes(slots * granule * wide_bytes);
    const size_t tensors = call.fold.kernel.data_count + call.narrow.kernel.data_count;
    const int64_t pointer_bytes = padded_bytes(static_cast<int64_t>(tensors * sizeof(void*)));
    thread_bytes = map_bytes + list_bytes + next_bytes + accumulator_bytes + pointer_bytes;
  }
};

class Folder {
 public:
  Folder(const SparseWidenCall& call, const Layout& layout, const Owners& owners, char* scratch, uint32_t me)
      : call_(call),
        layout_(layout),
        owners_(owners),
        me_(me),
        map_(reinterpret_cast<uint32_t*>(scratch)),
        list_(reinterpret_cast<uint64_t*>(scratch + layout.map_bytes)),
        next_(reinterpret_cast<uint32_t*>(scratch + layout.map_bytes + layout.list_bytes)),
        wide_(scratch + layout.map_bytes + layout.list_bytes + layout.next_bytes),
        fold_data_(reinterpret_cast<void**>(wide_ + layout.accumulator_bytes)),
        narrow_data_(std::copy_n(call.fold_args.data, call.fold.kernel.data_count, fold_data_)) {
    std::copy_n(call.narrow_args.data, call.narrow.kernel.data_count, narrow_data_);
  }

  void run() {
    collect();
    link();
    for (int64_t j = 0; j < count_; ++j) {
      if (j + 2 * kAhead < count_) __builtin_prefetch(map_ + granule_of(j + 2 * kAhead));
      if (j + kAhead < count_) prefetch(granule_of(j + kAhead));
      const int64_t granule = granule_of(j);
      if (map_[granule] == j + 1) add_chain(granule, j);
    }
    round_all();
  }

 private:
  uint32_t key_of(int64_t j) const { return static_cast<uint32_t>(list_[j] >> 32); }
  int64_t granule_of(int64_t j) const { return key_of(j) >> layout_.granule_shift; }

  /// Lists the positions whose destinations this thread owns, in order, with their keys. To avoid branches, every position is written to
  /// the end of the list, and the end advances only if this thread owns it.
  void collect() {
    std::array<uint32_t, kBlock> keys;  // NOLINT: filled by the keys entry
    const KeyScan scan(call_.fold.kernel.entries[STREW_ENTRY_keys], call_.fold_args);
    scan.for_each_block(call_.positions, block_, keys.data(), [&](int64_t begin, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const uint32_t key = keys[static_cast<size_t>(i)];
        list_[count_] = static_cast<uint64_t>(begin + i) | static_cast<uint64_t>(key) << 32;
        count_ += static_cast<int64_t>(owners_.of(key) == me_) & static_cast<int64_t>(key != kDroppedKey);
      }
    });
  }

  /// Links the updates of each granule, backwards, so that its chain runs forwards from its first update.
  void link() {
    std::memset(map_, 0, static_cast<size_t>(layout_.granules) * sizeof(uint32_t));
    for (int64_t j = count_; j-- > 0;) {
      if (j >= kAhead) __builtin_prefetch(map_ + granule_of(j - kAhead), 1);
      uint32_t& first = map_[granule_of(j)];
      next_[j] = first;
      first = static_cast<uint32_t>(j + 1);
    }
  }

  /// Widens a granule into the next free accumulator and queues its updates, in order.
  void add_chain(int64_t granule, int64_t first) {
    if (open_ == layout_.slots) round_all();
    const int64_t slot = open_++;
    granules_[static_cast<size_t>(slot)] = granule;
    widen(granule, slot);
    const uint64_t base = static_cast<uint64_t>(slot * layout_.per_granule);
    for (uint32_t j = static_cast<uint32_t>(first + 1); j != 0; j = next_[j - 1]) {
      const uint64_t within = key_of(j - 1) & static_cast<uint64_t>(layout_.per_granule - 1);
      queue_[static_cast<size_t>(queued_++)] = (list_[j - 1] & 0xffffffffu) | (base + within) << 32;
      if (queued_ == most_queued_) fold();
    }
  }

  /// Combines the queued updates with the accumulators.
  void fold() {
    if (queued_ == 0) return;
    strew_args args = call_.fold_args;
    fold_data_[0] = wide_;
    args.data = fold_data_;
    args.pos = queue_.data();
    args.n_list = 0;
    run_entry(call_.fold.kernel.entries[STREW_ENTRY_list], args, 0, queued_);
    queued_ = 0;
  }

  void round_all() {
    fold();
    for (int64_t slot = 0; slot < open_; ++slot) narrow(granules_[static_cast<size_t>(slot)], slot);
    open_ = 0;
  }

  int64_t begin_of(int64_t granule) const { return granule * layout_.granule; }
  int64_t end_of(int64_t granule) const { return std::min(begin_of(granule + 1), call_.elements); }
  /// The accumulators exist only for the granules in work, but entries index the accumulator as if it were whole. So this returns the
  /// address at which a whole accumulator would start for `granule` to lie in slot `slot`.
  void* accumulator(int64_t granule, int64_t slot) const {
    return shifted(wide_ + slot * layout_.granule * layout_.wide_bytes, begin_of(granule) * layout_.wide_bytes);
  }

  /// Prefetches the first lines of the granule in the result, which the narrowing writes; in place the widening reads them too. The
  /// attribute is needed because GCC takes a function that only prefetches for one that does nothing, and removes the call.
  [[gnu::always_inline]] void prefetch(int64_t granule) const {
    constexpr int64_t kMost = 4 * kLineBytes;
    const char* const row = static_cast<const char*>(narrow_data_[0]) + begin_of(granule) * narrow_bytes_;
    const int64_t bytes = std::min(kMost, layout_.granule * narrow_bytes_);
    for (int64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(row + at, 1);
  }

  void widen(int64_t granule, int64_t slot) {
    strew_args args = call_.fold_args;
    fold_data_[0] = accumulator(granule, slot);
    args.data = fold_data_;
    run_entry(call_.fold.kernel.entries[STREW_ENTRY_init], args, begin_of(granule), end_of(granule));
  }

  void narrow(int64_t granule, int64_t slot) {
    strew_args args = call_.narrow_args;
    narrow_data_[narrow_update_] = accumulator(granule, slot);
    args.data = narrow_data_;
    args.w0 = begin_of(granule);
    args.w1 = end_of(granule);
    run_entry(call_.narrow.range, args, 0, 1);
  }

  static constexpr int64_t kBlock = 2048;  // keys that are asked for at a time
  static constexpr int64_t kQueue = 512;   // updates that are handed to the list entry at a time
  static constexpr int64_t kAhead = 16;    // prefetch distance in updates
  const SparseWidenCall& call_;
  const Layout& layout_;
  const Owners& owners_;
  const uint32_t me_;
  const int64_t block_ = std::min(kBlock, call_.fold.limits->wide_block),
                most_queued_ = std::min(kQueue, call_.fold.limits->wide_queue);
  uint32_t* const map_;
  uint64_t* const list_;
  uint32_t* const next_;
  char* const wide_;
  void** const fold_data_;    ///< strew_args.data of the fold for the granule in work
  void** const narrow_data_;  ///< strew_args.data of the narrowing
  const int64_t narrow_bytes_ = call_.narrow.result_bytes;
  /// Where the accumulator is bound.
  const uint32_t narrow_update_ = call_.narrow.kernel.tensors[call_.narrow.kernel.tensor_count - 1].data;
  int64_t count_ = 0;
  int64_t open_ = 0, queued_ = 0;               ///< accumulators in use; updates that are queued
  std::array<int64_t, kMostSlots> granules_{};  ///< the granules of the accumulators in use
  std::array<uint64_t, kQueue> queue_{};
};

}  // namespace

bool run_wide_sparse(const Callable& callable, Team& team, const SparseWidenCall& call) {
  const ExecutionLimits& limits = *callable.limits;
  const int threads = team.threads();
  const Layout layout(call, limits);
  constexpr int64_t kMostPositions = std::numeric_limits<int32_t>::max();  // limit of the list entry
  const Bytes bytes = Bytes(layout.thread_bytes) * threads;
  if (call.positions > kMostPositions || bytes > Bytes(int64_t{callable.kernel.scratch_mib} << 20)) return false;
  const Scratch::Loan loan = callable.scratch.borrow(bytes.count());
  if (!loan) return false;
  // A granule has one owner, so a piece is at least one granule.
  const int64_t piece = std::max(limits.owner_piece_bytes, layout.granule * layout.wide_bytes);
  const Owners owners(threads, Bytes(layout.unit * layout.wide_bytes), Bytes(piece));
  run_phase(team, limits, PhaseKind::wide_sparse, threads, [&](int me) {
    Folder(call, layout, owners, loan.data() + layout.thread_bytes * me, static_cast<uint32_t>(me)).run();
  });
  return true;
}

}  // namespace strew::inline v0
