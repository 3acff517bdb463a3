// See partition.h. scatter() stores every entry directly at its place. A block's entries take a few hundred KiB, with one open cache line
// per bucket, so the caches collect a line before it leaves them. Collecting lines in a buffer first (write combining) took 4.1 ns instead
// of 1.6 ns per position with 8 to 128 buckets, and as long with 512, with any kind of store (Zen 3, 4 M positions). Tested by
// tests/unit/runtime/call/strategies/partition_test.cc and, on many threads, tests/unit/runtime/call/strategies/radix_test.cc.
#include "runtime/call/strategies/partition.h"

#include <algorithm>
#include <limits>

namespace strew::inline v0 {
namespace {

constexpr int64_t kScratchPerPosition = sizeof(uint64_t) + sizeof(uint32_t);
constexpr int64_t kMostRound = std::numeric_limits<int32_t>::max();

int64_t ceiling(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// The layout whose rounds have `round` positions.
PartitionLayout layout_of(int64_t round, const PartitionLayout::Call& call, const ExecutionLimits& limits) {
  PartitionLayout out;
  out.round = round;
  const int64_t wanted = int64_t{limits.radix_blocks_per_thread} * call.threads;
  out.block = ceiling(round, std::clamp<int64_t>(round / limits.radix_least_block, 1, wanted));
  out.blocks = static_cast<int>(ceiling(round, out.block));
  out.buckets = static_cast<int>(std::clamp<int64_t>(int64_t{limits.chunks_per_thread} * call.threads, 1, out.kMostBuckets));
  out.last_key = static_cast<uint32_t>(call.last_key);
  // A histogram is no longer than its block, so all histograms together cost less than the positions. It has two slots at least, so that a key of 32
  // bits is shifted by less than 32.
  const int64_t most = std::clamp<int64_t>(std::min(limits.radix_slots, out.block), 2, out.kMostSlots);
  // A slot covers at least one cache line of the result, so two threads never write one line.
  const auto least_key_bytes = [&](int shift) { return ceiling(limits.line_bytes, int64_t{1} << shift); };
  while (call.key_bytes.count() < least_key_bytes(out.shift) || (call.last_key >> out.shift) + 1 > most) ++out.shift;
  out.slots = (call.last_key >> out.shift) + 1;
  out.sums = static_cast<int>(std::clamp<int64_t>(out.blocks * out.slots / limits.radix_sum, 1, out.buckets));
  return out;
}

}  // namespace

Bytes PartitionLayout::scratch_bytes() const {
  const int64_t counts = blocks * (slots + 1) + int64_t{blocks} * (buckets + 1) + (slots + 1) + 2 * (buckets + 2);
  return Bytes(round * kScratchPerPosition + counts * static_cast<int64_t>(sizeof(uint32_t)) +
               (slots + 1) * static_cast<int64_t>(sizeof(uint16_t)));
}

PartitionLayout PartitionLayout::of(const Call& call, const ExecutionLimits& limits) {
  const int64_t by_bytes = call.call_bytes.count() / 100 * limits.radix_scratch_percent / kScratchPerPosition;
  const int64_t by_blocks = int64_t{limits.radix_blocks_per_thread} * call.threads * limits.radix_block;
  const int64_t most =
      std::clamp(by_bytes, limits.radix_least_round, std::max(limits.radix_least_round, std::min(by_blocks, kMostRound)));
  // All rounds of a call get nearly equal lengths.
  int64_t round = std::max<int64_t>(1, ceiling(call.positions, std::max<int64_t>(1, ceiling(call.positions, most))));
  PartitionLayout layout = layout_of(round, call, limits);
  while (layout.scratch_bytes() > call.scratch_bytes && round > 1) layout = layout_of(round = ceiling(round, 2), call, limits);
  return layout;
}

Bytes PartitionLayout::most_scratch_bytes(int threads, Bytes scratch_bytes, const ExecutionLimits& limits) {
  const int64_t round = int64_t{limits.radix_blocks_per_thread} * threads * limits.radix_block;
  const Call any{round, kDroppedKey - 1, Bytes(1), Bytes(0), scratch_bytes, threads};
  return std::min(scratch_bytes, layout_of(std::min(round, kMostRound), any, limits).scratch_bytes());
}

Partition::Partition(const KeyScan& keys, const PartitionLayout& layout, char* scratch)
    : keys_(keys),
      layout_(layout),
      list_(reinterpret_cast<uint64_t*>(scratch)),
      kept_keys_(reinterpret_cast<uint32_t*>(list_ + layout.round)),
      histograms_(kept_keys_ + layout.round),
      places_(histograms_ + layout.blocks * (layout.slots + 1)),
      totals_(places_ + int64_t{layout.blocks} * (layout.buckets + 1)),
      slot_begins_(totals_ + layout.slots + 1),
      bucket_begins_(slot_begins_ + layout.buckets + 2),
      bucket_of_(reinterpret_cast<uint16_t*>(bucket_begins_ + layout.buckets + 2)) {}

int64_t Partition::block_begin(int block) const { return std::min(block * layout_.block, count_); }

void Partition::count(int block) const {
  const int64_t from = block_begin(block), to = block_begin(block + 1);
  uint32_t* const counts = histogram(block);
  std::fill_n(counts, layout_.slots + 1, 0U);
  if (from < to) keys_.make(begin_ + from, to - from, kept_keys_ + from);
  const Slots slots = this->slots();
  const uint32_t* const keys = kept_keys_;
  for (int64_t i = from; i < to; ++i) ++counts[slots.of(keys[i])];
}

void Partition::add(int chunk) const {
  const int64_t slots = layout_.slots + 1, from = slots * chunk / layout_.sums, to = slots * (chunk + 1) / layout_.sums;
  std::fill(totals_ + from, totals_ + to, 0U);
  for (int block = 0; block < layout_.blocks; ++block) {
    const uint32_t* const counts = histogram(block);
    for (int64_t slot = from; slot < to; ++slot) totals_[slot] += counts[slot];
  }
}

/// A slot belongs to the bucket whose even share of the positions contains the slot's first position.
void Partition::cut() const {
  const auto slots = static_cast<uint32_t>(layout_.slots), buckets = static_cast<uint32_t>(layout_.buckets);
  const uint64_t all = static_cast<uint64_t>(count_) - totals_[slots];
  uint64_t before = 0;  // positions of earlier slots
  uint32_t bucket = 0;
  slot_begins_[0] = bucket_begins_[0] = 0;
  for (uint32_t slot = 0; slot < slots; ++slot) {
    for (; bucket + 1 < buckets && before * buckets >= (bucket + 1) * all; ++bucket) {
      slot_begins_[bucket + 1] = slot;
      bucket_begins_[bucket + 1] = static_cast<uint32_t>(before);
    }
    bucket_of_[slot] = static_cast<uint16_t>(bucket);
    before += totals_[slot];
  }
  for (; bucket < buckets; ++bucket) {
    slot_begins_[bucket + 1] = slots;
    bucket_begins_[bucket + 1] = static_cast<uint32_t>(before);
  }
  // Dropped positions form a bucket after the last.
  bucket_of_[slots] = static_cast<uint16_t>(buckets);
  slot_begins_[buckets + 1] = slots + 1;
  bucket_begins_[buckets + 1] = static_cast<uint32_t>(count_);
}

void Partition::place(int bucket) const {
  const uint32_t first = slot_begins_[bucket], end = slot_begins_[bucket + 1];
  uint32_t at = bucket_begins_[bucket];
  for (int block = 0; block < layout_.blocks; ++block) {
    places(block)[bucket] = at;
    const uint32_t* const counts = histogram(block);
    for (uint32_t slot = first; slot < end; ++slot) at += counts[slot];
  }
}

void Partition::scatter(int block) const {
  const int64_t from = block_begin(block), to = block_begin(block + 1);
  const Slots slots = this->slots();
  const uint32_t* const keys = kept_keys_;
  const uint16_t* const bucket_of = bucket_of_;
  uint64_t* const list = list_;
  uint32_t* const next = places(block);
  for (int64_t i = from; i < to; ++i)
    list[next[bucket_of[slots.of(keys[i])]]++] = static_cast<uint64_t>(i) | static_cast<uint64_t>(keys[i]) << 32;
}

}  // namespace strew::inline v0
