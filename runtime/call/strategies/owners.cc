// See owners.h. Tested by tests/unit/runtime/call/strategies/owner_test.cc.
#include "runtime/call/strategies/owners.h"

#include <array>

#include "runtime/call/executor/phases.h"

namespace strew::inline v0 {

bool is_lopsided(const KeyScan& scan, int64_t positions, Bytes key_bytes, const ExecutionLimits& limits) {
  constexpr size_t kMostEach = 8;
  const int64_t spots = limits.hot_spots, each = std::min<int64_t>(limits.hot_each, kMostEach);
  const int64_t most = (7 * spots * each + 9) / 10;  // most of the sample: far more than an even share reaches by chance
  if (positions < spots * each) return false;
  const Owners owners(2, key_bytes, Bytes(limits.owner_piece_bytes));
  int64_t first = 0, second = 0;
  std::array<uint32_t, kMostEach> keys{};
  for (int64_t spot = 0; spot < spots; ++spot) {
    const int64_t begin = (positions - each) / (spots - 1) * spot;
    scan.make(begin, each, keys.data());
    for (int64_t i = 0; i < each; ++i) {
      const uint32_t key = keys[static_cast<size_t>(i)];
      if (key == kDroppedKey) continue;
      (owners.of(key) == 0 ? first : second) += 1;
    }
  }
  return std::max(first, second) >= most;
}

namespace {

int64_t column_unit(const ApplyCall& call) { return line_unit(call, call.kernel().window_stride); }

/// Would each thread get some cache lines of every window? Of fewer, the processor would prefetch those of the neighbour, too, and take
/// them away from it.
bool has_wide_columns(const ApplyCall& call, int threads) {
  return call.entry(STREW_ENTRY_clip) != nullptr && call.call.splits >= threads * column_unit(call) * call.limits().hot_lines;
}

/// For updates that go to few destinations: cuts the columns of all windows into chunks.
void apply_columns(const ApplyCall& call, Team& team) {
  strew_args whole = call.args;
  whole.k1 = clip_extent(call);
  run_chunks(team, call.limits(),
             {PhaseKind::columns, call.entry(STREW_ENTRY_clip), whole, Split{call.call.splits, column_unit(call), 1},
              Axis::window, call.call.positions});
}

}  // namespace

bool apply_by_owners(const ApplyCall& call, void (*deal)(const ApplyCall&, Team&), bool scans) {
  if (call.call.positions < call.limits().owner_positions || !keys_fit(call.kernel(), call.args.dyn)) return false;
  Team team(*call.call.executor, call.threads, call.alone);
  if (!team.has_help()) return false;
  const bool shares_columns = has_wide_columns(call, team.threads());
  // With two threads and hot destinations one owner would do nearly everything, after it has found out which updates are its own.
  const bool declines = scans && team.threads() == 2 && !shares_columns;
  if ((shares_columns || declines) && is_lopsided(call.keys(), call.call.positions, call.key_bytes(), call.limits())) {
    if (shares_columns) apply_columns(call, team);
    return shares_columns;
  }
  deal(call, team);
  return true;
}

}  // namespace strew::inline v0
