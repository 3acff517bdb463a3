// StrategyShares: how each strategy shares a call out among threads, said once. A plan's predictions (schedules/costs/predict.h) and the choice
// at a call (runtime/call/strategies/strategy.cc) both ask here; they differ in what they know of sizes and of memory. All of it is always
// inlined, because a choice takes a few nanoseconds (bench/overhead, choice). Tested by tests/unit/schedules/costs/predict_test.cc and
// tests/unit/runtime/call/strategies/choose_strategy_test.cc.
#pragma once

#include <algorithm>

namespace strew::inline v0 {

/// How many private tables a call has. If its kernel regroups, every number of tables gives the same bits; if not, a schedule names it.
constexpr int private_tables(int tables, bool regroups, int threads) { return regroups ? std::min(tables, threads) : tables; }

/// What the thread with the most work does. The default is one thread that does everything.
struct ThreadShare {
  double part = 1;            ///< of what is shared out
  double threads = 1;         ///< so many have a part
  double phases = 0;          ///< all threads fork and join so many times
  bool cuts_windows = false;  ///< windows are shared out, so that every thread visits all positions; if not, positions are
  bool owns = false;          ///< it touches a part of the table that no other thread touches
  double gaps = 1;            ///< how many times as long it takes to read the updates of its part, between which others lie
  double keys = 0;            ///< destinations that it computes, per position of the call
  double visits = 0;          ///< positions that it visits once more, per position of the call
  double tables = 0;          ///< private tables that it fills and merges

  double of_positions() const { return cuts_windows ? 1 : part; }
  double of_window() const { return cuts_windows ? part : 1; }
};

/// `Sizes` has what is known of a call, as numbers: threads(), slabs() of positions that stay together, positions(), columns() of a window, or of positions where columns_are_positions(),
/// coordinates() of the operand dim that the first window loop moves, table_bytes(), piece_bytes() of the table that have one owner, and
/// private tables(). A division takes as long as everything else here, so that few numbers are divided.
template <class Sizes>
class StrategyShares {
 public:
  explicit StrategyShares(const Sizes& sizes) : sizes_(sizes), threads_(sizes.threads()), even_(1 / threads_) {}

  // By the names of STREW_STRATEGIES.
  [[gnu::always_inline]] ThreadShare sequential() const { return {}; }
  [[gnu::always_inline]] ThreadShare positions() const { return cut(sizes_.slabs(), {}); }
  [[gnu::always_inline]] ThreadShare window() const {
    return cut(sizes_.columns(), {.cuts_windows = !sizes_.columns_are_positions()});
  }
  /// Every thread computes all keys and puts its own into a queue, from which they are applied: these positions are no longer one loop.
  [[gnu::always_inline]] ThreadShare owner() const {
    ThreadShare share = owned();
    share.phases = 1;
    share.keys = 1 + share.part;
    share.visits = share.part;
    return share;
  }
  /// A thread computes the keys of its positions, and lists and reads them by destination.
  [[gnu::always_inline]] ThreadShare radix() const {
    constexpr double kKeys = 8;  // two keys, a place in the list, and what another core writes of the list
    ThreadShare share = owned();
    share.phases = 6;
    share.keys = kKeys * even_;
    return share;
  }
  [[gnu::always_inline]] ThreadShare runs() const { return cut(sizes_.positions(), {.owns = true}); }
  /// As window, and every position is cut to the thread's range.
  [[gnu::always_inline]] ThreadShare clip() const { return cut(sizes_.coordinates(), {.cuts_windows = true, .keys = 1}); }
  /// The tables are filled in waves of one per thread, and all threads merge those of a wave.
  [[gnu::always_inline]] ThreadShare private_tables() const {
    const double tables = sizes_.tables(), threads = std::clamp(tables, 1.0, threads_), waves = tables / threads;
    return {.part = 1 / threads, .threads = threads, .phases = 2 * waves, .tables = waves};
  }

 private:
  /// A part has whole units.
  [[gnu::always_inline]] ThreadShare cut(double units, ThreadShare share) const {
    constexpr double kMany = 64;  // units of a thread: one more does not count
    share.phases = 1;
    share.threads = threads_;
    share.part = even_;
    if (units >= kMany * threads_) return share;
    units = std::max(units, 1.0);
    share.threads = std::min(units, threads_);
    const double each = units / share.threads, whole = static_cast<double>(static_cast<int>(each));
    share.part = (whole < each ? whole + 1 : whole) / units;
    return share;
  }
  /// Destinations are equally likely; with small tables there are fewer pieces than threads. The processor also prefetches the updates of other
  /// threads, which lie between a thread's own.
  [[gnu::always_inline]] ThreadShare owned() const {
    constexpr double kGaps = 2;
    const double table = sizes_.table_bytes(), piece = sizes_.piece_bytes();
    if (table >= piece * threads_) return {.part = even_, .threads = threads_, .owns = true, .gaps = kGaps};
    const double threads = std::max(1.0, table / piece);
    return {.part = 1 / threads, .threads = threads, .owns = true, .gaps = kGaps};
  }

  const Sizes& sizes_;
  const double threads_, even_;
};

}  // namespace strew::inline v0
