// Owners by exchange (research/limits.md C and 7), in rounds of up to 16384 positions per block and two blocks per thread. First each block
// resolves its positions' keys and sorts them, stably, into a list per owner; after a barrier each owner applies its lists in block order.
// So every index is read once whatever the number of threads, a destination has one owner, and an owner works in position order: each
// destination sees its updates in order, and the bits are the sequential loop's for every thread count.
//
// There are four and more owners per thread, claimed largest first, so that skew and slow cores even out. Cost: 1.5 ns per position divided
// by the threads, and the lists change cores: 20 ns and more per line where cores share no cache, so few threads scan instead
// (strategies/owner). Scratch: 12 bytes per position of a round, at most 5 % of the operand and updates (but 8192 positions). Nothing can
// fault here: policy error has checked all indices before, the other policies place or drop them in the keys entry. Tested by
// tests/differential, tests/unit/owner_test.cc and, under tsan, executor_test.cc.
#include "runtime/call/strategies/exchange.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "runtime/call/executor/trace.h"

namespace strew {
namespace {

constexpr int64_t kScratchPerPosition = sizeof(uint64_t) + sizeof(uint32_t);
constexpr int kOwnersPerThread = 4;
constexpr int kMostOwners = 256;

class Rounds {
 public:
  Rounds(const OwnerCall& call, int64_t most)
      : call_(call),
        dealt_(std::min(kMostOwners, kOwnersPerThread * call.threads), call.key_bytes, call.limits.owner_piece_bytes),
        owners_(dealt_.count()) {
    blocks_ = 2 * call.threads;
    const int64_t rounds = (call.positions + most - 1) / most;
    const int64_t round = (call.positions + rounds - 1) / rounds;
    block_ = (round + blocks_ - 1) / blocks_;
  }

  int64_t scratch_bytes() const {
    return blocks_ * (block_ * kScratchPerPosition + (kMostOwners + 1) * static_cast<int64_t>(sizeof(uint32_t)));
  }

  void run(Executor::Team& team, char* scratch) {
    lists_ = reinterpret_cast<uint64_t*>(scratch);
    keys_ = reinterpret_cast<uint32_t*>(lists_ + blocks_ * block_);
    starts_ = keys_ + blocks_ * block_;
    for (begin_ = 0; begin_ < call_.positions; begin_ += blocks_ * block_) {
      run_phase(
          team, call_.limits, PhaseKind::exchange_sort, blocks_,
          [](void* rounds, int block) noexcept { static_cast<const Rounds*>(rounds)->sort(block); }, this);
      rank_owners();
      run_phase(
          team, call_.limits, PhaseKind::exchange_apply, owners_,
          [](void* rounds, int nth) noexcept { static_cast<const Rounds*>(rounds)->apply(nth); }, this);
    }
  }

 private:
  int64_t border(int block) const { return std::min(begin_ + block * block_, call_.positions); }
  uint32_t* starts(int block) const { return starts_ + static_cast<ptrdiff_t>(block) * (kMostOwners + 1); }

  /// Dropped positions go to nobody: one past the last owner.
  uint32_t owner(uint32_t key) const {
    const uint32_t dealt = dealt_.of(key);
    return key == kDroppedKey ? static_cast<uint32_t>(owners_) : dealt;
  }

  void sort(int block) const {
    const int64_t from = border(block), count = border(block + 1) - from;
    uint32_t* const keys = keys_ + block * block_;
    uint64_t* const list = lists_ + block * block_;
    if (count > 0) {
      strew_args args = *call_.args;
      args.key = keys;
      args.n_list = from;
      strew_fault unused;
      call_.keys(&args, from, from + count, &unused);
    }
    std::array<uint32_t, kMostOwners + 1> next{};
    for (int64_t i = 0; i < count; ++i) ++next[owner(keys[i])];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), 0u);
    std::copy_n(next.begin(), owners_ + 1, starts(block));
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t key = keys[i];
      list[next[owner(key)]++] = static_cast<uint64_t>(i) | static_cast<uint64_t>(key) << 32;
    }
  }

  void rank_owners() {
    std::array<uint32_t, kMostOwners> load{};
    for (int block = 0; block < blocks_; ++block)
      for (int o = 0; o < owners_; ++o) load[static_cast<size_t>(o)] += starts(block)[o + 1] - starts(block)[o];
    const auto end = ranked_.begin() + owners_;
    std::iota(ranked_.begin(), end, 0);
    std::sort(ranked_.begin(), end, [&](int a, int b) { return load[static_cast<size_t>(a)] > load[static_cast<size_t>(b)]; });
  }

  void apply(int nth) const {
    const int me = ranked_[static_cast<size_t>(nth)];
    strew_args args = *call_.args;
    strew_fault unused;
    for (int block = 0; block < blocks_; ++block) {
      const uint32_t from = starts(block)[me], to = starts(block)[me + 1];
      if (from == to) continue;
      args.pos = lists_ + block * block_;
      args.n_list = border(block);
      call_.list(&args, from, to, &unused);
    }
  }

  const OwnerCall& call_;
  Owners dealt_;
  int owners_;
  int64_t begin_ = 0, block_ = 0;
  int blocks_ = 0;
  uint64_t* lists_ = nullptr;   ///< per block: its positions by owner, in order
  uint32_t* keys_ = nullptr;    ///< per block, in order
  uint32_t* starts_ = nullptr;  ///< per block: where each owner's part of the list starts
  std::array<int, kMostOwners> ranked_{};
};

}  // namespace

int64_t exchange_bytes(int threads) {
  const int64_t blocks = 2 * int64_t{threads};
  return blocks *
         ((kDefaultLimits.exchange_block + 1) * kScratchPerPosition + (kMostOwners + 1) * static_cast<int64_t>(sizeof(uint32_t)));
}

void run_exchange(Executor::Team& team, Scratch& scratch, const OwnerCall& call) {
  if (call.positions == 0) return;
  const ExecutionLimits& limits = call.limits;
  const int64_t bounded = call.call_bytes / 100 * limits.exchange_scratch_percent / kScratchPerPosition;
  const int64_t most = std::max(limits.exchange_least_round, 2 * call.threads * limits.exchange_block);
  Rounds rounds(call, std::clamp(bounded, limits.exchange_least_round, most));
  const Scratch::Loan loan = scratch.borrow(rounds.scratch_bytes());
  if (loan) return rounds.run(team, loan.data());
  strew_fault unused;
  call.range(call.args, 0, call.positions, &unused);
}

bool apply_exchange(const ApplyCall& call) {
  return apply_by_owners(
      call, [](Executor::Team& team, Scratch& scratch, const OwnerCall& owners) { run_exchange(team, scratch, owners); });
}

}  // namespace strew
