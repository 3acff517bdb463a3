// Sorted indices put all updates of one destination side by side. So chunks of positions whose borders are moved to the next change of
// destination never meet, every thread runs the plain loop on its chunk, and the order per destination is the sequential one: the best split
// there is for segment sums. A border is found by galloping over keys, so runs of any length cost a few dozen keys.
//
// A false hint of order may give wrong values (semantics: hints), never an access outside the buffers. Legality is schedules/strategies/runs.
// Tested by tests/differential and tests/unit/runs_test.cc.
#include <array>

#include "runtime/call/executor/trace.h"
#include "runtime/call/strategies/owners.h"

namespace strew {
namespace {

constexpr int kMostChunks = 1024;

class Runs {
 public:
  explicit Runs(const OwnerCall& call) : call_(call) {
    const int64_t wanted = std::min(call.limits.chunks_per_thread * call.threads, kMostChunks);
    chunks_ = static_cast<int>(std::min(wanted, call.positions));
    for (int c = 1; c < chunks_; ++c)
      border(c) = run_end(std::max(border(c - 1), call.positions / chunks_ * c + call.positions % chunks_ * c / chunks_));
    border(chunks_) = call.positions;
  }
  int chunks() const { return chunks_; }
  void run(int chunk) const {
    const int64_t begin = border(chunk), end = border(chunk + 1);
    strew_fault unused;
    if (begin < end) call_.range(call_.args, begin, end, &unused);
  }

 private:
  int64_t& border(int chunk) { return borders_[static_cast<size_t>(chunk)]; }
  int64_t border(int chunk) const { return borders_[static_cast<size_t>(chunk)]; }

  uint32_t key(int64_t position) const {
    uint32_t out = 0;
    KeyScan(call_.keys, *call_.args).make(position, 1, &out);
    return out;
  }

  /// The first position at or after `at` whose destination is not its predecessor's.
  int64_t run_end(int64_t at) const {
    if (at == 0 || at >= call_.positions) return at;
    const uint32_t mine = key(at - 1);
    int64_t same = at - 1, step = 1;
    while (same + step < call_.positions && key(same + step) == mine) {
      same += step;
      step *= 2;
    }
    int64_t other = std::min(same + step, call_.positions);
    while (other - same > 1) {
      const int64_t middle = same + (other - same) / 2;
      (key(middle) == mine ? same : other) = middle;
    }
    return other;
  }

  const OwnerCall& call_;
  int chunks_ = 1;
  std::array<int64_t, kMostChunks + 1> borders_{};
};

void run_runs(Executor::Team& team, Scratch&, const OwnerCall& call) {
  Runs runs(call);
  run_phase(
      team, call.limits, PhaseKind::runs, runs.chunks(),
      [](void* r, int chunk) noexcept { static_cast<const Runs*>(r)->run(chunk); }, &runs);
}

}  // namespace

bool apply_runs(const ApplyCall& call) { return apply_by_owners(call, run_runs); }

}  // namespace strew
