// What holds of a strategy (Strategy in strew/schedule.h describes each) whatever the kernel is. Planning, backends, calls and tuning ask here,
// so whoever adds a strategy says everything about it in its row: without the row strew does not compile.
// Tested by tests/unit/schedules/schedule_test.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "strew/abi.h"

namespace strew::inline v0 {

/// Which part of each window a thread does.
enum class WindowShare : uint8_t {
  whole,        ///< all of it
  columns,      ///< iterations of the first window loop
  coordinates,  ///< the iterations of the first window loop that fall into the thread's range of the operand's coordinates
};

/// Which kernels carry a strategy beside that of their schedule, so that a call may take it instead.
enum class CarriedBy : uint8_t {
  none,    ///< only those whose schedule has it
  all,     ///< all that it is legal for: the entry range serves it as it is
  owners,  ///< those whose schedule has owners: their entries serve it, too
};

struct StrategyTraits {
  std::string_view what;  ///< what the threads do, for lists of choices
  WindowShare share = WindowShare::whole;
  uint32_t entries = 0;        ///< that it needs besides range, check and init; bits 1 << STREW_ENTRY_…
  bool takes_scratch = false;  ///< the limit of scratch memory decides how a call goes
  /// Groups the updates of a destination, which may decide the bits of a sum. If not, one thread runs it as `sequential`.
  bool may_group = false;
  CarriedBy carried_by = CarriedBy::none;

  /// Are updates applied by the entry range alone, so that the entry stream can take its place?
  constexpr bool uses_range() const { return entries == 0; }
  /// Does it compute where positions go?
  constexpr bool needs_keys() const { return (entries >> STREW_ENTRY_keys & 1) != 0; }
  /// Has each destination a thread, which applies the positions that go there?
  constexpr bool has_owners() const { return (entries >> STREW_ENTRY_list & 1) != 0; }
};

namespace strategy_traits {
inline constexpr uint32_t kKeys = 1U << STREW_ENTRY_keys, kList = 1U << STREW_ENTRY_list;
inline constexpr StrategyTraits sequential{.what = "one thread, nothing repeated and nothing shared"};
inline constexpr StrategyTraits positions{.what = "each thread takes positions of its own", .carried_by = CarriedBy::all};
inline constexpr StrategyTraits window{.what = "each thread takes columns of every window and reads all indices",
                                       .share = WindowShare::columns};
inline constexpr StrategyTraits owner{.what = "each thread reads all indices and applies the updates of its destinations",
                                      .entries = kKeys | kList,
                                      .carried_by = CarriedBy::owners};
inline constexpr StrategyTraits radix{.what = "positions are partitioned by destination, so that every index is read once",
                                      .entries = kKeys | kList,
                                      .takes_scratch = true,
                                      .carried_by = CarriedBy::owners};
inline constexpr StrategyTraits runs{.what = "each thread takes a part of the sorted positions", .entries = kKeys};
inline constexpr StrategyTraits clip{.what = "each thread applies the parts of all windows that fall into its range",
                                     .share = WindowShare::coordinates,
                                     .entries = 1U << STREW_ENTRY_clip};
inline constexpr StrategyTraits private_tables{.what = "each thread adds to a table of its own, and the tables are merged",
                                               .entries = 1U << STREW_ENTRY_merge,
                                               .takes_scratch = true,
                                               .may_group = true,
                                               .carried_by = CarriedBy::owners};
}  // namespace strategy_traits

/// The traits of strategy number `strategy`, a STREW_STRATEGY_….
constexpr const StrategyTraits& traits_of(int strategy) {
  constexpr const StrategyTraits* kRows[] = {
#define STREW_STRATEGY_TRAITS(strategy, text) &strategy_traits::strategy,
      STREW_STRATEGIES(STREW_STRATEGY_TRAITS)
#undef STREW_STRATEGY_TRAITS
  };
  return *kRows[strategy];
}

}  // namespace strew::inline v0
