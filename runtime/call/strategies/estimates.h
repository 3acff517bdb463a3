// Estimates: how long each strategy takes for a call, roughly; only the ratio of two counts. They stand in one place so that choose_strategy()
// (strategy.cc) has them inline and computes what they share once, because every call of a kernel that carries several strategies asks for
// all of theirs. schedules/strategies has the estimates by which schedules are chosen. Tested by
// tests/unit/runtime/call/strategies/choose_strategy_test.cc; the time of a choice by bench/overhead (choice), which is why its parts are
// always inlined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/strategy_traits.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/chunks.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/extent.h"
#include "runtime/call/strategies/private_tables.h"
#include "runtime/call/strategies/strategy.h"

namespace strew::inline v0 {

class Estimates {
 public:
  /// `strategies`: bits of those that will be asked for.
  Estimates(const ApplyCall& call, uint32_t strategies)
      : call_(call),
        visits_(static_cast<double>(call.call.positions) * static_cast<double>(call.callable.costs.position_ns)),
        one_(to_ns(call.alone) - (1 - kUnhidden) * visits_),
        phase_(call.callable.costs.phase_ns) {
    constexpr uint32_t kOfOwners = [] {
      uint32_t bits = 0;
      for (int i = 0; i < STREW_STRATEGY_COUNT; ++i) bits |= uint32_t{traits_of(i).has_owners()} << i;
      return bits;
    }();
    if ((strategies & kOfOwners) == 0) return;
    keys_ = static_cast<double>(call.call.positions) * static_cast<double>(call.callable.costs.key_ns);
    const CallCosts::Streams streams = streams_of(call);
    const double threads = call.threads;
    owned_ =
        (one_ - streams.ns) / std::clamp(owned_pieces(), 1.0, threads) + streams.ns * kGaps / std::min(threads, streams.scale);
  }

  // By the names of STREW_STRATEGIES.
  [[gnu::always_inline]] double sequential() const { return one_; }
  [[gnu::always_inline]] double positions() const {
    const int64_t units = call_.call.positions / position_unit(call_);
    return shared_out(static_cast<double>(units), EstimatedTime(0), 1);
  }
  [[gnu::always_inline]] double window() const {
    return shared_out(static_cast<double>(call_.call.splits), EstimatedTime(visits_), 1);
  }
  /// A thread computes the keys of all positions, and puts its own into a queue, from which they are applied.
  [[gnu::always_inline]] double owner() const { return owned_ + keys_ + (keys_ + visits_) / call_.threads + phase_; }
  /// A thread computes the keys of its positions twice, and writes and reads a list of them; there are six phases.
  [[gnu::always_inline]] double radix() const {
    constexpr double kKeys = 8;  // in keys_: two keys, a place in the list, and what another core writes of the list
    constexpr int kPhases = 6;
    return owned_ + kKeys * keys_ / call_.threads + kPhases * phase_;
  }
  [[gnu::always_inline]] double runs() const {
    return shared_out(static_cast<double>(call_.call.positions), EstimatedTime(0), 1);
  }
  [[gnu::always_inline]] double clip() const {
    return shared_out(static_cast<double>(evaluate(call_.kernel(), call_.kernel().clip_extent, call_.args.dyn)),
                      EstimatedTime(visits_), 1);
  }
  /// Every table is filled, and read once more than the result.
  [[gnu::always_inline]] double private_tables() const {
    if (!repays_tables(call_, elements(call_.tensors[0]))) return std::numeric_limits<double>::infinity();
    const double tables = 2 * call_.callable.costs.of_bytes(call_.table);
    return shared_out(most_tables(call_), EstimatedTime(0), 2) + tables;
  }

 private:
  static CallCosts::Streams streams_of(const ApplyCall& apply) {
    return apply.callable.costs.streams(apply.call.positions, window_bytes(apply.callable, apply.call), apply.table);
  }

  /// One thread's time, if it is cut into as many parts as there are threads but at most `parts`, and `repeated` of it is done by
  /// every thread; with fork and join of `phases`.
  [[gnu::always_inline]] double shared_out(double parts, EstimatedTime repeated, int phases) const {
    const double threads_busy = std::clamp(parts, 1.0, static_cast<double>(call_.threads)), each = repeated.count();
    return each + (one_ - std::min(each, one_)) / threads_busy + phases * phase_;
  }
  /// Into how many parts the result can be shared out among owners; the number of threads where it is at least as many.
  double owned_pieces() const {
    const int64_t piece = std::max<int64_t>(1, call_.limits().owner_piece_bytes);
    int64_t enough = 0;  // for all threads; a division would take as long as the rest of the choice
    if (!__builtin_mul_overflow(piece, int64_t{call_.threads}, &enough) && call_.table.count() >= enough) return call_.threads;
    const int64_t pieces = call_.table.count() / piece;
    return static_cast<double>(pieces);
  }

  const ApplyCall& call_;
  double visits_;     ///< what every thread does that visits all positions, besides its part of their windows
  double one_;        ///< one thread's time
  double phase_;      ///< fork and join
  double owned_ = 0;  ///< one thread's part, if every thread owns destinations
  double keys_ = 0;   ///< computing the keys of all positions
};

}  // namespace strew::inline v0
