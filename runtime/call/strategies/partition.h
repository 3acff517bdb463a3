// Partition: a stable parallel radix partition of index positions by destination.
//
// Positions are cut into blocks, destinations into slots (ranges of equally many keys), and slots are grouped into buckets. There are five
// steps. Each is parallel over its argument and starts when the step before has finished for all its arguments:
//
//   count(block)     makes and keeps the block's keys, and counts the positions of each slot: the block's histogram
//   add(chunk)       sums the histograms; a chunk is a range of slots
//   cut()            groups neighbouring slots into buckets of about equal weight, so a bucket of hot slots has few destinations
//   place(bucket)    prefix sums over (bucket, block): where the list entries of each block for this bucket begin
//   scatter(block)   writes the block's positions, with their keys, to those places
//
// Every index is read once, whatever the number of threads. Within a bucket positions are in order, because the blocks are and the positions
// of each block are. No bucket is heavier than an even share plus the heaviest slot. Dropped positions come after the last bucket.
#pragma once

#include <cstdint>

#include "runtime/call/executor/limits.h"
#include "runtime/call/strategies/key_scan.h"

namespace strew::inline v0 {

/// How one round of a call is partitioned, and how much memory that takes.
struct PartitionLayout {
  /// scatter() has one open cache line per bucket; this is how many a first-level cache has.
  static constexpr int kMostBuckets = 512;
  static constexpr int64_t kMostSlots = 1 << 15;

  /// Positions of a round; less than 2^31, because entries of the list have 31 bits for a position relative to the round's first.
  int64_t round = 0;
  int64_t block = 0;  ///< positions of a block
  int blocks = 1;
  int buckets = 1;
  int sums = 1;  ///< chunks of add() and place(); few sums are one chunk
  int64_t slots = 1;
  int shift = 0;  ///< key >> shift is the key's slot
  uint32_t last_key = 0;

  struct Call {
    int64_t positions;
    int64_t last_key;     ///< the largest key of the call; less than kDroppedKey
    Bytes key_bytes;      ///< of the result per unit of a key
    Bytes call_bytes;     ///< of the operand and updates
    Bytes scratch_bytes;  ///< the most that scratch may take
    int threads;
  };
  /// The layout with the longest rounds that the limits and `scratch_bytes` allow.
  static PartitionLayout of(const Call& call, const ExecutionLimits& limits);
  /// The most that a call with `threads` threads borrows, whatever its shapes, if it may borrow `scratch_bytes`.
  static Bytes most_scratch_bytes(int threads, Bytes scratch_bytes, const ExecutionLimits& limits);

  Bytes scratch_bytes() const;
};

class Partition {
 public:
  /// `scratch`: layout.scratch_bytes() bytes, at the start of a cache line.
  Partition(const KeyScan& keys, const PartitionLayout& layout, char* scratch);

  /// Starts the round of positions [begin, begin + count); count is at most layout.round.
  void start(int64_t begin, int64_t count) { begin_ = begin, count_ = count; }

  void count(int block) const;
  void add(int chunk) const;
  void cut() const;
  void place(int bucket) const;  ///< bucket layout.buckets: the dropped positions
  void scatter(int block) const;

  /// The list holds positions in the form of strew_args.pos, relative to begin(). Entries [bucket_begin(b), bucket_begin(b + 1)) are those
  /// of bucket b.
  const uint64_t* list() const { return list_; }
  int64_t begin() const { return begin_; }
  uint32_t bucket_begin(int bucket) const { return bucket_begins_[bucket]; }
  /// Bucket b has the keys of the slots [slot_begin(b), slot_begin(b + 1)).
  uint32_t slot_begin(int bucket) const { return slot_begins_[bucket]; }

 private:
  /// Computes the slot of a key. Loops copy it to a local variable, so that it stays in registers: the compiler must assume that the loops'
  /// stores change the layout.
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
  uint64_t* list_;           ///< per position of the round, by bucket
  uint32_t* kept_keys_;      ///< per position of the round, in order
  uint32_t* histograms_;     ///< per block: positions per slot, and dropped positions
  uint32_t* places_;         ///< per block: where its next position of each bucket goes
  uint32_t* totals_;         ///< positions per slot
  uint32_t* slot_begins_;    ///< per bucket: its first slot
  uint32_t* bucket_begins_;  ///< per bucket: its first entry of the list
  uint16_t* bucket_of_;      ///< per slot
};

}  // namespace strew::inline v0
