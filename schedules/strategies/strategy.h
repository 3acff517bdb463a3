// The planning half of a strategy: is it legal for a plan, and what would a call need? The running half is runtime/call/strategies.
//
// To add one: its line in STREW_STRATEGIES (strew/abi.h), its file here, which defines legal_NAME and entries_NAME, and its file there.
#pragma once

#include "base/status.h"
#include "compiler/plan/plan.h"
#include "schedules/entries.h"
#include "schedules/schedule.h"
#include "strew/abi.h"

namespace strew {

// Status legal_NAME(const Plan&): ok, or unsupported with the reason; the message starts with "strategy NAME".
// std::vector<EntryKind> entries_NAME(const Plan&): what it needs besides range, check and init.
#define STREW_DECLARE_STRATEGY(strategy, text) \
  Status legal_##strategy(const Plan& plan);   \
  std::vector<EntryKind> entries_##strategy(const Plan& plan);
STREW_STRATEGIES(STREW_DECLARE_STRATEGY)
#undef STREW_DECLARE_STRATEGY

/// May a kernel of this plan be run by `strategy`?
Status legal(Strategy strategy, const Plan& plan);
std::vector<EntryKind> entries_of(Strategy strategy, const Plan& plan);

/// Ok, or why no result can be cut at any element: packed ones share bytes. Named by most strategies' rules.
Status whole_bytes(const Plan& plan, Strategy strategy);

/// The component that moves the first window loop, or null.
const Component* clip_mover(const Plan& plan);

}  // namespace strew
