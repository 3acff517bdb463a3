// Partition: a stable parallel radix partition of index positions by destination.
//
// Positions are cut into blocks, destinations into slots: neighbours of equal number. In steps, each of which is parallel over its argument
// and follows the one before for all of its arguments:
//
//   count(block)     makes the block's keys, keeps them, and counts how many go to each slot: the block's histogram
//   add(chunk)       sums the histograms, a range of slots per chunk
//   cut()            buckets: ranges of slots of about equal weight, so that a bucket of hot slots has few destinations
//   place(bucket)    prefix sums over (bucket, block): where each block's positions of the bucket go
//   scatter(block)   writes the block's positions with their keys there
//
// Every index is read once, whatever the number of threads. Within a bucket positions are in order: blocks are, and so is each block's
// share. No bucket is heavier than an even share and the heaviest slot. Positions that are dropped follow the last bucket.
#pragma once

#include <cstdint>

#include "runtime/call/executor/limits.h"
#include "runtime/call/strategies/key_scan.h"

namespace strew {

/// How one round of a call is partitioned, and the memory that it takes.
struct PartitionLayout {
  static constexpr int kMostBuckets = 512;  ///< as many lines as a first-level cache has are open while blocks are scattered
  static constexpr int64_t kMostSlots = 1 << 15;

  int64_t round = 0;  ///< positions of a round, less than 2^31: positions of a list entry count from its first, in 31 bits
  int64_t block = 0;  ///< positions of a block
  int blocks = 1;
  int buckets = 1;
  int sums = 1;  ///< chunks for add() and place(), so that small sums are not worth a barrier
  int64_t slots = 1;
  int shift = 0;  ///< key >> shift is its slot
  uint32_t last_key = 0;

  struct Call {
    int64_t positions;
    int64_t last_key;       ///< no key is larger; less than kDroppedKey
    int64_t key_bytes;      ///< of the result per unit of a key
    int64_t call_bytes;     ///< of the operand and updates
    int64_t scratch_bytes;  ///< the most that scratch may take
    int threads;
  };
  /// The longest rounds that the limits and the scratch allow.
  static PartitionLayout of(const Call& call, const ExecutionLimits& limits);
  /// The most that a call with that many threads borrows, whatever its shapes, where it may borrow `scratch_bytes`.
  static int64_t most_scratch_bytes(int threads, int64_t scratch_bytes, const ExecutionLimits& limits);

  int64_t scratch_bytes() const;
};

class Partition {
 public:
  /// `scratch`: layout.scratch_bytes() of it, at the start of a line.
  Partition(const KeyScan& keys, const PartitionLayout& layout, char* scratch);

  /// Positions [begin, begin + count) are next; count is layout.round at most.
  void start(int64_t begin, int64_t count) { begin_ = begin, count_ = count; }

  void count(int block) const;
  void add(int chunk) const;
  void cut() const;
  void place(int bucket) const;  ///< bucket layout.buckets: the dropped ones
  void scatter(int block) const;

  /// The positions of bucket b are entries [bucket_begin(b), bucket_begin(b + 1)) of it, in the form of strew_args.pos, from begin() on.
  const uint64_t* list() const { return list_; }
  int64_t begin() const { return begin_; }
  uint32_t bucket_begin(int bucket) const { return bucket_begins_[bucket]; }

 private:
  /// A key's slot. Loops keep one in registers: what they write could be the layout's numbers, as far as a compiler knows.
  struct Slots {
    uint32_t last_key, none;
    int shift;
    uint32_t of(uint32_t key) const { return key > last_key ? none : key >> shift; }
  };
  Slots slots() const { return {layout_.last_key, static_cast<uint32_t>(layout_.slots), layout_.shift}; }
  uint32_t* histogram(int block) const { return histograms_ + block * (layout_.slots + 1); }
  uint32_t* places(int block) const { return places_ + int64_t{block} * (layout_.buckets + 1); }
  int64_t block_begin(int block) const;

  KeyScan keys_;
  const PartitionLayout layout_;
  int64_t begin_ = 0, count_ = 0;
  uint64_t* list_;           ///< per position of the round
  uint32_t* kept_keys_;      ///< the same, in order
  uint32_t* histograms_;     ///< per block: positions per slot, and the dropped ones
  uint32_t* places_;         ///< per block: where its next position of each bucket goes
  uint32_t* totals_;         ///< positions per slot
  uint32_t* slot_begins_;    ///< per bucket: its first slot
  uint32_t* bucket_begins_;  ///< per bucket: its first entry of the list
  uint16_t* bucket_of_;      ///< per slot
};

}  // namespace strew
