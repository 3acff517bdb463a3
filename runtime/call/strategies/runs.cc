// Strategy runs, for sorted indices: all updates of one destination (a run) are adjacent. Positions are cut into chunks whose borders are
// moved to the next change of destination, so no two chunks share a destination. Every thread runs the plain loop on its chunk and keeps
// the sequential order per destination; nothing is faster for segment sums. The next change is found by galloping over keys, so a run of
// any length costs a few dozen keys.
//
// If the hint that indices are sorted is false, values may be wrong (semantics.md: hints), but no access is out of bounds.
// schedules/strategies/runs decides when the strategy is legal. Tested by tests/differential and
// tests/unit/runtime/call/strategies/runs_test.cc.
#include <array>

#include "runtime/call/executor/phases.h"
#include "runtime/call/strategies/owners.h"

namespace strew::inline v0 {
namespace {

constexpr int kMostChunks = 1024;  // so that their borders fit on the stack

class Runs {
 public:
  Runs(const ApplyCall& call, int threads) : call_(call), positions_(call.call.positions) {
    const int64_t wanted = std::min(call.limits().chunks_per_thread * threads, kMostChunks);
    chunks_ = static_cast<int>(std::min(wanted, positions_));
    for (int c = 1; c < chunks_; ++c)
      border(c) = run_end(std::max(border(c - 1), positions_ / chunks_ * c + positions_ % chunks_ * c / chunks_));
    border(chunks_) = positions_;
  }
  int chunks() const { return chunks_; }
  void run(int chunk) const {
    const int64_t begin = border(chunk), end = border(chunk + 1);
    if (begin < end) run_entry(call_.callable.range, call_.args, begin, end);
  }

 private:
  int64_t& border(int chunk) { return borders_[static_cast<size_t>(chunk)]; }
  int64_t border(int chunk) const { return borders_[static_cast<size_t>(chunk)]; }

  uint32_t key(int64_t position) const {
    uint32_t out = 0;
    call_.keys().make(position, 1, &out);
    return out;
  }

  /// The first position from `at` on whose destination differs from that of the position before it.
  int64_t run_end(int64_t at) const {
    if (at == 0 || at >= positions_) return at;
    const uint32_t mine = key(at - 1);
    int64_t same = at - 1, step = 1;
    while (same + step < positions_ && key(same + step) == mine) {
      same += step;
      step *= 2;
    }
    int64_t other = std::min(same + step, positions_);
    while (other - same > 1) {
      const int64_t middle = same + (other - same) / 2;
      (key(middle) == mine ? same : other) = middle;
    }
    return other;
  }

  const ApplyCall& call_;
  const int64_t positions_;
  int chunks_ = 1;
  std::array<int64_t, kMostChunks + 1> borders_{};
};

void run_runs(const ApplyCall& call, Team& team) {
  const Runs runs(call, team.threads());
  run_phase(team, call.limits(), PhaseKind::runs, runs.chunks(), [&](int chunk) { runs.run(chunk); });
}

}  // namespace

bool apply_runs(const ApplyCall& call) { return apply_by_owners(call, run_runs); }

}  // namespace strew::inline v0
