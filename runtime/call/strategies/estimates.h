// CallEstimates: how long a thread's share of a call takes, roughly; only the ratio of two counts. base/strategy_shares.h has the share that each
// strategy gives a thread. Every call of a kernel that carries several strategies asks for all of theirs, so that what they have in common is
// computed once, and everything is inline. Tested by tests/unit/runtime/call/strategies/choose_strategy_test.cc; the time of a choice by
// bench/overhead (choice).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/strategy_shares.h"
#include "runtime/call/extent.h"
#include "runtime/call/strategies/private_tables.h"
#include "runtime/call/strategies/strategy.h"

namespace strew::inline v0 {

/// The sizes of a call, for StrategyShares.
struct CallSizes {
  const ApplyCall& call;

  [[gnu::always_inline]] double threads() const { return call.threads; }
  [[gnu::always_inline]] double slabs() const {
    const int64_t count = call.call.positions / position_unit(call);
    return static_cast<double>(count);
  }
  [[gnu::always_inline]] double positions() const { return static_cast<double>(call.call.positions); }
  [[gnu::always_inline]] double columns() const { return static_cast<double>(call.call.splits); }
  [[gnu::always_inline]] double coordinates() const { return static_cast<double>(clip_extent(call)); }
  [[gnu::always_inline]] double table_bytes() const { return static_cast<double>(call.table.count()); }
  [[gnu::always_inline]] double piece_bytes() const { return static_cast<double>(call.limits().owner_piece_bytes); }
  [[gnu::always_inline]] double tables() const { return most_tables(call); }
};

class CallEstimates {
 public:
  explicit CallEstimates(const ApplyCall& call)
      : call_(call),
        visits_(of_positions(costs().position_ns)),
        rest_(to_ns(call.alone) - (1 - kUnhidden) * visits_ - call.streams.ns),
        waits_(1 / call.streams.scale) {}

  [[gnu::always_inline]] double of(const ThreadShare& share) const {
    const double repeated = share.cuts_windows ? visits_ : 0, streams = call_.streams.ns * std::max(1.0, share.threads * waits_);
    double sum = repeated + (rest_ - std::min(repeated, rest_) + streams * share.gaps) * share.part + share.visits * visits_ +
                 share.keys * of_positions(costs().key_ns) + share.phases * static_cast<double>(costs().phase_ns);
    if (share.cuts_windows && share.threads > 1 && is_cached(call_.table)) sum += of_positions(costs().transfer_ns);
    if (share.tables != 0) sum += share.tables * 2 * costs().of_bytes(call_.table);
    return sum;
  }

 private:
  const CallCosts& costs() const { return call_.callable.costs; }
  bool is_cached(Bytes table) const { return table.count() <= costs().cache_bytes.back(); }
  double of_positions(float each) const { return static_cast<double>(call_.call.positions) * static_cast<double>(each); }

  const ApplyCall& call_;
  double visits_;  ///< what every thread does that visits all positions, besides its part of their windows
  double rest_;    ///< one thread's time, but for what is read or written in order
  double waits_;   ///< how much longer each of two threads reads, at most, because the other does
};

}  // namespace strew::inline v0
