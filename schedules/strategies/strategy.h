// The planning part of a strategy: is it legal for a plan, and which entries does it need? runtime/call/strategies has
// the running part.
//
// To add a strategy, add its line in STREW_STRATEGIES (strew/abi.h), its traits (base/strategy_traits.h), how it shares out a call
// (base/strategy_shares.h), its function legal_NAME in strategy.cc, and its running file.
#pragma once

#include <cstdint>

#include "compiler/op/combiner.h"
#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "strew/status.h"

namespace strew::inline v0 {

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
