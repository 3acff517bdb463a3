// The planning half of a strategy: is it legal for a plan, and what would a call need? The running half is runtime/call/strategies.
//
// To add one: its line in STREW_STRATEGIES (strew/abi.h), its file here, which defines legal_NAME, and its file there.
#pragma once

#include "base/status.h"
#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "strew/abi.h"

namespace strew {

// Status legal_NAME(const Plan&): ok, or unsupported with the reason; the message starts with "strategy NAME".
#define STREW_DECLARE_LEGAL(strategy, text) Status legal_##strategy(const Plan& plan);
STREW_STRATEGIES(STREW_DECLARE_LEGAL)
#undef STREW_DECLARE_LEGAL

/// May a kernel of this plan be run by `strategy`?
Status legal(Strategy strategy, const Plan& plan);

/// Ok, or why no result can be cut at any element: packed ones share bytes. Named by most strategies' rules.
Status whole_bytes(const Plan& plan, Strategy strategy);

/// Does a kernel of this schedule have the entry clip? Those of strategy clip, and of the owner strategies where windows could be shared out by
/// columns when a few destinations turn out to be hot.
bool wants_clip(const Plan& plan, const Schedule& schedule);

/// The component that moves the first window loop, or null.
const Component* clip_mover(const Plan& plan);

}  // namespace strew
