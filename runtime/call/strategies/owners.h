// Owners: assigns the destinations of a scatter to threads. Shared by the strategies owner, radix and runs, and by sparse widening.
#pragma once

#include <cstdint>

#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/thread_pool.h"
#include "runtime/call/strategies/key_scan.h"
#include "runtime/call/strategies/strategy.h"

namespace strew::inline v0 {

/// Cuts the result into pieces (ExecutionLimits::owner_piece_bytes) and assigns them to owners by a multiplicative hash, so that
/// neighbouring hot pieces get different owners.
class Owners {
 public:
  Owners(int owners, Bytes key_bytes, Bytes piece = Bytes(kDefaultLimits.owner_piece_bytes))
      : owners_(static_cast<uint32_t>(owners)) {
    while (key_bytes.count() << shift_ < piece.count()) ++shift_;
  }
  /// The owner, 0..owners-1, of a key that is not dropped.
  uint32_t of(uint32_t key) const { return static_cast<uint32_t>((uint64_t{hash(key, shift_)} * owners_) >> 32); }

  /// The range of hashes of one owner, [first, last]. has(key) answers of(key) == me with one multiplication.
  struct Share {
    Share(const Owners& owners, uint32_t me)
        : shift(owners.shift_),
          first(static_cast<uint32_t>(owners.first_hash(me))),
          last(static_cast<uint32_t>(owners.first_hash(me + 1) - 1)) {}
    bool has(uint32_t key) const { return hash(key, shift) - first <= last - first; }

    int shift;
    uint32_t first, last;
  };

  static constexpr uint32_t kHashFactor = 0x9e3779b1u;

 private:
  static uint32_t hash(uint32_t key, int shift) { return (key >> shift) * kHashFactor; }
  uint64_t first_hash(uint32_t owner) const { return ((uint64_t{owner} << 32) + owners_ - 1) / owners_; }

  uint32_t owners_;
  int shift_ = 0;
};

// The inner loop of strategy owner, which every thread runs over all positions (owner.cc).

/// select_owned may write this many entries after the last one it keeps.
inline constexpr int64_t kSelectSlack = 8;

/// Appends to `list`, from entry `queued` on, an entry for each of keys [0, count) that belongs to the share and is not dropped, in order:
/// the position `first` + i in the low half, the key in the high half. Positions must stay below 2^32. Returns the new number of entries.
int64_t select_owned(const Owners::Share& share, const uint32_t* keys, int64_t count, uint32_t first, uint64_t* list,
                     int64_t queued);

/// The same without vector instructions, for tests and for machines that lack them.
int64_t select_owned_plain(const Owners::Share& share, const uint32_t* keys, int64_t count, uint32_t first, uint64_t* list,
                           int64_t queued);

/// Would one of two owners get nearly all updates, because most of them go to a few destinations? Decided from a sample of the positions.
/// `key_bytes`: of the result per unit of a key.
bool is_lopsided(const KeyScan& scan, int64_t positions, Bytes key_bytes, const ExecutionLimits& limits);

/// Calls `deal`, the body of a strategy, with a team that has help. If few destinations get most updates and windows are wide, cuts the
/// windows' columns into chunks instead. Returns false, having done nothing, if the call is too small for several threads, if no thread is
/// free, or if `scans`, every thread reads all indices, and two threads would not repay that.
bool apply_by_owners(const ApplyCall& call, void (*deal)(const ApplyCall&, Team&), bool scans = false);

}  // namespace strew::inline v0
