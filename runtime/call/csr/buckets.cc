// csr() by buckets: the stable radix partition of the strategy radix brings the positions into ranges of segments, in one round; then each range is sorted by
// counting. A range has some thousand positions, so its part of the results stays in a private cache while it is filled in any order. A bucket is not
// divided: a thread that has a bucket with one hot segment copies that segment's positions while the others sort the rest.
#include <algorithm>
#include <limits>
#include <string>

#include "runtime/call/csr/csr.h"
#include "runtime/call/scratch.h"
#include "runtime/call/strategies/partition.h"

namespace strew::inline v0 {
namespace {

/// What the entry below is called with, as its first tensor.
struct KeySource {
  const CsrJob& job;
  FirstBad first_bad;
};

/// Makes the keys of a partition: a kernel's entry, whose keys are the indices. A bad index is noted, and all from it on are dropped.
int32_t make_keys(const strew_args* args, int64_t begin, int64_t end, strew_fault*) {
  auto& source = *static_cast<KeySource*>(args->data[0]);
  auto* const keys = static_cast<uint32_t*>(const_cast<void*>(args->key)) + (begin - args->n_list);
  const int64_t good = read_keys(source.job, begin, end - begin, keys);
  if (good == end - begin) return STREW_OK;
  source.first_bad.note(begin + good);
  std::fill(keys + good, keys + (end - begin), kDroppedKey);
  return STREW_OK;
}

/// The layout of one round, with buckets of `csr_bucket` positions where that gives every thread several.
PartitionLayout layout_of(const CsrJob& job, const Team& team, const ExecutionLimits& limits) {
  ExecutionLimits of_round = limits;
  of_round.radix_least_round = std::numeric_limits<int32_t>::max();
  const int64_t each = job.positions / (limits.csr_bucket * team.threads());
  of_round.chunks_per_thread =
      static_cast<int>(std::clamp<int64_t>(each, limits.chunks_per_thread, PartitionLayout::kMostBuckets));
  const Bytes any(std::numeric_limits<int64_t>::max());
  const Bytes key_bytes(job.offsets.bytes);
  return PartitionLayout::of({job.positions, std::max<int64_t>(job.segments, 1) - 1, key_bytes, any, any, team.threads()},
                             of_round);
}

class Buckets {
 public:
  Buckets(const CsrJob& job, const PartitionLayout& layout, const Partition& partition)
      : job_(job), layout_(layout), partition_(partition) {}

  /// Sorts one bucket, whose offsets count first and then say where the next position goes; so they end as those of the next segment each, and are moved.
  template <class Offset, class Position>
  void sort(int bucket) const {
    const int64_t first = first_key(bucket), last = first_key(bucket + 1) - 1;
    const int64_t begin = partition_.bucket_begin(bucket), end = partition_.bucket_begin(bucket + 1);
    // Copies in registers: the compiler must assume that the stores change what is behind references.
    const Integers offsets = job_.offsets, permutation = job_.permutation;
    const uint64_t* const list = partition_.list();
    for (int64_t s = first; s <= last; ++s) offsets.set(s, Offset{0});
    for (int64_t i = begin; i < end; ++i) {
      const auto s = static_cast<int64_t>(list[i] >> 32);
      offsets.set(s, static_cast<Offset>(offsets.get<Offset>(s) + 1));
    }
    int64_t at = begin;
    for (int64_t s = first; s <= last; ++s) {
      const auto count = offsets.get<Offset>(s);
      offsets.set(s, static_cast<Offset>(at));
      at += count;
    }
    for (int64_t i = begin; i < end; ++i) {
      const auto s = static_cast<int64_t>(list[i] >> 32);
      const auto to = offsets.get<Offset>(s);
      permutation.set(to, static_cast<Position>(list[i] & kPosition));
      offsets.set(s, static_cast<Offset>(to + 1));
    }
    for (int64_t s = last; s > first; --s) offsets.set(s, offsets.get<Offset>(s - 1));
    if (first <= last) offsets.set(first, static_cast<Offset>(begin));
  }

 private:
  static constexpr uint64_t kPosition = 0xffffffff;

  int64_t first_key(int bucket) const { return std::min(int64_t{partition_.slot_begin(bucket)} << layout_.shift, job_.segments); }

  const CsrJob& job_;
  const PartitionLayout& layout_;
  const Partition& partition_;
};

}  // namespace

Expected<int64_t> csr_by_buckets(const CsrJob& job, Team& team, const ExecutionLimits& limits) {
  const PartitionLayout layout = layout_of(job, team, limits);
  Scratch memory;
  const Scratch::Loan scratch = memory.borrow(layout.scratch_bytes().count());
  if (!scratch)
    return resource_exhausted("csr: no memory for " + std::to_string(layout.scratch_bytes().count()) + " bytes of scratch");
  KeySource source{job, FirstBad(job.positions)};
  void* data[] = {&source};
  strew_args args{};
  args.data = data;
  Partition partition(KeyScan(make_keys, args), layout, scratch.data());
  partition.start(0, job.positions);
  team.run(layout.blocks, [&](int block) { partition.count(block); });
  if (source.first_bad.get() < job.positions) return source.first_bad.get();
  team.run(layout.sums, [&](int chunk) { partition.add(chunk); });
  partition.cut();
  team.run(layout.sums, [&](int chunk) {
    const int buckets = layout.buckets + 1;  // the last has the dropped positions, of which there are none
    for (int b = buckets * chunk / layout.sums; b < buckets * (chunk + 1) / layout.sums; ++b) partition.place(b);
  });
  team.run(layout.blocks, [&](int block) { partition.scatter(block); });
  const Buckets buckets(job, layout, partition);
  with_result_types(job, [&](auto offset, auto position) {
    team.run(layout.buckets, [&](int bucket) { buckets.sort<decltype(offset), decltype(position)>(bucket); });
    job.offsets.set(job.segments, static_cast<decltype(offset)>(job.positions));
  });
  return job.positions;
}

}  // namespace strew::inline v0
