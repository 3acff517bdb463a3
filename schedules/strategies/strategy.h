// The planning part of a strategy: is it legal for a plan, and which entries does it need? runtime/call/strategies has
// the running part.
//
// To add a strategy, add its line in STREW_STRATEGIES (strew/abi.h), its traits (base/strategy_traits.h), how it shares out a call
// (base/strategy_shares.h), its function legal_NAME in strategy.cc, and its running file.
#pragma once

#include "compiler/plan/plan.h"
#include "schedules/entries.h"
#include "schedules/schedule.h"
#include "strew/abi.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Is `strategy` legal for kernels of this plan? If not: unsupported, with a message that begins with "strategy NAME: ".
Status legal(Strategy strategy, const Plan& plan);
/// The same in less time, for those who do not ask why.
bool is_legal(Strategy strategy, const Plan& plan);
/// The entries that it needs besides range, check and init.
std::vector<EntryKind> entries_of(Strategy strategy, const Plan& plan);

/// The strategies that kernels of this plan and schedule can run, with the same results; bits 1 << Strategy. Only the schedule's, and
/// `sequential` where that keeps the bits, unless the schedule adapts.
uint32_t strategies_of(const Plan& plan, const Schedule& schedule);
inline constexpr uint32_t bit(Strategy strategy) { return 1U << static_cast<int>(strategy); }

/// The component that moves the first window loop; null if none does.
const Component* clip_mover(const Plan& plan);

}  // namespace strew::inline v0
