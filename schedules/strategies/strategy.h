// The planning part of a strategy: is it legal for a plan, and which entries does it need? runtime/call/strategies has
// the running part. And stores that bypass the caches.
//
// To add a strategy, add its line in STREW_STRATEGIES (strew/abi.h), its traits (base/strategy_traits.h), how it shares out a call
// (base/strategy_shares.h), its function legal_NAME in strategy.cc, and its running file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/op/combiner.h"
#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "strew/abi.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

// The entries of a kernel (strew/abi.h): functions that each work on a range of it.

/// Numbers, names and meanings are those of STREW_ENTRIES in strew/abi.h.
enum class EntryKind : uint8_t {
#define STREW_ENTRY_VALUE(kind, what) kind,
  STREW_ENTRIES(STREW_ENTRY_VALUE)
#undef STREW_ENTRY_VALUE
};
constexpr std::string_view name(EntryKind kind) {
#define STREW_ENTRY_NAME(kind, what) #kind,
  return name_among({STREW_ENTRIES(STREW_ENTRY_NAME)}, kind);
#undef STREW_ENTRY_NAME
}

/// The entries that a kernel needs: always range; check under policy error; init for init copy and fill; stream if calls choose how to store;
/// and those of the strategies that it can run.
STREW_API std::vector<EntryKind> entries_of(const Plan& plan, const Schedule& schedule);

// Stores that bypass the caches (schedule knob `nontemporal`): where they are legal, where they can pay, and whether the kernel leaves the
// choice to its calls, because the extents that decide are open or because only the call finds what it writes in a cache or not. Such a kernel
// has the entry stream beside the entry range. Tested by tests/unit/schedules/stores_test.cc.

/// Tensors of up to this many bytes are never written past the caches: caches of less than a few times that are not provided for. The target's
/// own cache size is not used, because generated code must depend on nothing but the target's text.
inline constexpr int64_t kNeverStreamed = int64_t{256} << 10;

/// Ok if bits are moved and nothing is computed.
Status legal_nontemporal(const Plan& plan);
/// Are the runs whole cache lines? A store that bypasses the caches must fill its line, or memory is read first.
bool writes_whole_lines(const Plan& plan);
/// Can stores that bypass the caches pay in some call of a kernel that applies windows with strategy `strategy`?
bool may_stream(const Plan& plan, Strategy strategy);
/// Do calls choose between the entries range and stream?
inline bool chooses_stores(const Plan& plan, const Schedule& schedule) {
  return schedule.adapts && may_stream(plan, schedule.strategy);
}

// Strategies.

/// Is `strategy` legal for kernels of this plan? If not: unsupported, with a message that begins with "strategy NAME: ".
Status legal(Strategy strategy, const Plan& plan);
/// The same in less time, for those who do not ask why.
bool is_legal(Strategy strategy, const Plan& plan);

/// The strategies that kernels of this plan and schedule can run, with the same results; bits 1 << Strategy. Only the schedule's, and
/// `sequential` where that keeps the bits, unless the schedule adapts.
uint32_t strategies_of(const Plan& plan, const Schedule& schedule);
inline constexpr uint32_t bit(Strategy strategy) { return 1U << static_cast<int>(strategy); }

/// The component that moves the first window loop; null if none does.
const Component* clip_mover(const Plan& plan);

// What strategy private has to know of a plan's combiners. compiler/op/combiner.h has the properties of single operators.

/// Does every grouping of the updates give the same bits? It does for integers, bool, and float min and max. Otherwise
/// the number of tables decides the bits, so it must not depend on the number of threads.
bool combines_exactly(const Plan& plan);

/// Does a sum in any order (`relaxed`), of which the number of tables decides the bits, use private tables? The answer depends on op and
/// shapes alone: three and more updates per element of a table that a private cache holds.
bool relaxed_sum_uses_tables(const Plan& plan);

/// The combiner of result i, for plans for which strategy private is legal.
ExprOp combiner_of(const Plan& plan, int i);

/// The expression for one element of result i when a private table is merged into it: input `current` is the result's element, `update` the
/// table's. An element of a float table that still holds the bits of the combiner's identity was not updated, so
/// the result's element is kept: combining it would turn a signalling NaN there into a quiet one. Integers need no such care.
Expr merge_graph(const Plan& plan, int i);

}  // namespace strew::inline v0
