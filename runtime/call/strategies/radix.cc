// Strategy radix: a stable parallel radix partition of the positions by destination (strategies/partition), then one call of the list entry
// per bucket. A destination is in one bucket, and a bucket is in position order, so each destination gets its updates in order: the bits
// are those of the sequential loop for every number of threads.
//
// Every index is read once, so the total work does not grow with the threads, whereas strategy owner reads all indices on each thread. A
// thread also stays in one part of the table at a time. The cost is up to six barriers per round, and a list of 12 bytes per position
// of a round that one core writes and another reads. Rounds follow each other in position order and are as long as the scratch allows.
//
// Buckets that are much heavier than the others are started first, so that no thread ends with one. A bucket is never divided: if one
// destination gets a large part of all updates, its thread is busy with it alone, unless its columns can be divided among threads
// (strategies/owners). Tested by tests/unit/runtime/call/strategies/radix_test.cc and tests/unit/runtime/call/strategies/owner_test.cc,
// which run under tsan too, and by tests/differential.
#include <algorithm>
#include <array>

#include "runtime/call/executor/phases.h"
#include "runtime/call/extent.h"
#include "runtime/call/strategies/owners.h"
#include "runtime/call/strategies/partition.h"

namespace strew::inline v0 {
namespace {

class Rounds {
 public:
  Rounds(const ApplyCall& call, const PartitionLayout& layout, char* scratch)
      : call_(call), layout_(layout), partition_(call.keys(), layout, scratch) {}

  void run(Team& team) {
    const auto phase = [&](PhaseKind kind, int chunks, const auto& work) { run_phase(team, call_.limits(), kind, chunks, work); };
    const int64_t positions = call_.call.positions;
    for (int64_t begin = 0; begin < positions; begin += layout_.round) {
      partition_.start(begin, std::min(layout_.round, positions - begin));
      phase(PhaseKind::radix_count, layout_.blocks, [&](int block) { partition_.count(block); });
      phase(PhaseKind::radix_add, layout_.sums, [&](int chunk) { partition_.add(chunk); });
      partition_.cut();
      rank_buckets();
      phase(PhaseKind::radix_place, layout_.sums, [&](int chunk) { place(chunk); });
      phase(PhaseKind::radix_scatter, layout_.blocks, [&](int block) { partition_.scatter(block); });
      phase(PhaseKind::radix_apply, layout_.buckets, [&](int nth) { apply(ranked_[static_cast<size_t>(nth)]); });
    }
  }

 private:
  /// Places one chunk of the buckets; the bucket of dropped positions comes last.
  void place(int chunk) const {
    const int buckets = layout_.buckets + 1;
    for (int b = buckets * chunk / layout_.sums; b < buckets * (chunk + 1) / layout_.sums; ++b) partition_.place(b);
  }

  uint32_t weight(int bucket) const { return partition_.bucket_begin(bucket + 1) - partition_.bucket_begin(bucket); }

  void rank_buckets() {
    const uint64_t heavy = 2 * (partition_.bucket_begin(layout_.buckets) / static_cast<uint64_t>(layout_.buckets)) + 1;
    size_t rank = 0;
    for (const bool first : {true, false})
      for (int b = 0; b < layout_.buckets; ++b)
        if ((weight(b) > heavy) == first) ranked_[rank++] = b;
  }

  void apply(int bucket) const {
    if (weight(bucket) == 0) return;
    strew_args args = call_.args;
    args.pos = partition_.list();
    args.n_list = partition_.begin();
    run_entry(call_.entry(STREW_ENTRY_list), args, partition_.bucket_begin(bucket), partition_.bucket_begin(bucket + 1));
  }

  const ApplyCall& call_;
  const PartitionLayout& layout_;
  Partition partition_;
  std::array<int, PartitionLayout::kMostBuckets> ranked_{};
};

void run_radix(const ApplyCall& call, Team& team) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < call.kernel().tensor_count; ++i) {
    const Extent extent = extent_of(call.kernel().tensors[i], call.tensors[i]);
    bytes += extent.hi - extent.lo;
  }
  const PartitionLayout layout = PartitionLayout::of({call.call.positions, last_key(call.kernel(), call.args.dyn),
                                                      call.key_bytes(), Bytes(bytes), call.scratch_bytes(), team.threads()},
                                                     call.limits());
  const Scratch::Loan loan = call.callable.scratch.borrow(layout.scratch_bytes().count());
  if (loan) return Rounds(call, layout, loan.data()).run(team);
  run_entry(call.callable.range, call.args, 0, call.call.positions);
}

}  // namespace

bool apply_radix(const ApplyCall& call) { return apply_by_owners(call, run_radix); }

}  // namespace strew::inline v0
