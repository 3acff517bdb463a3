// Owners: assigns the destinations of a scatter to threads. Shared by the strategies owner, radix and runs, and by sparse widening.
#pragma once

#include <cstdint>

#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/thread_pool.h"
#include "runtime/call/strategies/key_scan.h"
#include "runtime/call/strategies/strategy.h"

namespace strew::inline v0 {

/// The arguments of a call of these strategies.
struct OwnerCall {
  strew_entry range, keys, list;
  const strew_args* args;
  int64_t positions;
  Bytes key_bytes;      ///< of the result per unit of a key
  int64_t last_key;     ///< the largest key of the call
  Bytes call_bytes;     ///< of operand and updates
  Bytes scratch_bytes;  ///< the most that may be borrowed
  int threads;          ///< how many threads the work is cut for
  const ExecutionLimits& limits = kDefaultLimits;
};

/// Cuts the result into pieces (ExecutionLimits::owner_piece_bytes) and assigns them to owners by a multiplicative hash, so that
/// neighbouring hot pieces get different owners.
class Owners {
 public:
  Owners(int owners, Bytes key_bytes, Bytes piece = Bytes(kDefaultLimits.owner_piece_bytes))
      : owners_(static_cast<uint32_t>(owners)) {
    while (key_bytes.count() << shift_ < piece.count()) ++shift_;
  }
  int count() const { return static_cast<int>(owners_); }
  /// The owner, 0..count()-1, of a key that is not dropped.
  uint32_t of(uint32_t key) const { return static_cast<uint32_t>((uint64_t{hash(key, shift_)} * owners_) >> 32); }

  /// The range of hashes of one owner, [first_hash(), last_hash()]. has(key) answers of(key) == me with one multiplication.
  class Share {
   public:
    Share(const Owners& owners, uint32_t me)
        : shift_(owners.shift_),
          first_(static_cast<uint32_t>(owners.first_hash(me))),
          last_(static_cast<uint32_t>(owners.first_hash(me + 1) - 1)) {}
    bool has(uint32_t key) const { return hash(key, shift_) - first_ <= last_ - first_; }
    int shift() const { return shift_; }
    uint32_t first_hash() const { return first_; }
    uint32_t last_hash() const { return last_; }

   private:
    int shift_;
    uint32_t first_, last_;
  };

  static constexpr uint32_t kHashFactor = 0x9e3779b1u;

 private:
  static uint32_t hash(uint32_t key, int shift) { return (key >> shift) * kHashFactor; }
  uint64_t first_hash(uint32_t owner) const { return ((uint64_t{owner} << 32) + owners_ - 1) / owners_; }

  uint32_t owners_;
  int shift_ = 0;
};

/// Would one of two owners get nearly all updates, because most of them go to a few destinations? Decided from a sample of the positions.
bool is_lopsided(const OwnerCall& call);

/// Calls `deal`, the body of a strategy, on a team that has help. If few destinations get most updates and windows are wide, cuts the
/// windows' columns into chunks instead. Returns false, having done nothing, if the call is too small for several threads, if no thread is
/// free, or if `scans`, every thread reads all indices, and two threads would not repay that.
bool apply_by_owners(const ApplyCall& call, void (*deal)(Team&, Scratch&, const OwnerCall&), bool scans = false);

}  // namespace strew::inline v0
