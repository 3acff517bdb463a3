// Owners: which part of a scatter's destinations belongs to whom. Shared by the strategies owner, radix and runs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/call/executor/executor.h"
#include "runtime/call/executor/limits.h"
#include "runtime/call/strategies/key_scan.h"
#include "runtime/call/strategies/strategy.h"

namespace strew {

/// Everything a call of these strategies needs.
struct OwnerCall {
  strew_entry range, keys, list;
  const strew_args* args;
  int64_t positions;
  int64_t key_bytes;      ///< of the result per key unit
  int64_t last_key;       ///< no key is larger
  int64_t call_bytes;     ///< operand and updates
  int64_t scratch_bytes;  ///< the most
  int threads;            ///< how many the work is cut for
  const ExecutionLimits& limits = kDefaultLimits;
};

/// Pieces of the result (ExecutionLimits::owner_piece_bytes) are dealt to owners by a multiplicative hash, so hot neighbourhoods spread.
class Owners {
 public:
  Owners(int owners, int64_t key_bytes, int64_t piece_bytes = kDefaultLimits.owner_piece_bytes)
      : owners_(static_cast<uint32_t>(owners)) {
    while (key_bytes << shift_ < piece_bytes) ++shift_;
  }
  int count() const { return static_cast<int>(owners_); }
  /// Of a key that is not dropped: 0..count()-1.
  uint32_t of(uint32_t key) const { return static_cast<uint32_t>((uint64_t{hash(key, shift_)} * owners_) >> 32); }

  /// One owner's hashes, [first_hash(), last_hash()]: what of() would say, in one multiplication.
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

/// From a sample of the positions: would one of two owners have nearly everything to do, because most updates go to a few destinations?
bool is_lopsided(const OwnerCall& call);

/// Runs `deal` with what a strategy of owners needs, on a team that has help; or, where a few destinations are hot and windows are wide,
/// shares the windows' columns out. False: too small a call for owners, or nobody is free to help.
bool apply_by_owners(const ApplyCall& call, void (*deal)(Executor::Team&, Scratch&, const OwnerCall&));

}  // namespace strew
