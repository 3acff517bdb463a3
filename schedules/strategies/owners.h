// What the strategies owner, radix and runs share: the rule of legality that destinations must have keys.
#pragma once

#include "compiler/plan/plan.h"
#include "schedules/schedule.h"

namespace strew::inline v0 {

/// Ok for scatters whose windows coincide or are disjoint (plan kinds row and element) and whose results have
/// whole-byte elements and equal, static, non-negative strides: then a destination's offset is its key.
Status legal_owners(const Plan& plan, Strategy strategy);
}  // namespace strew::inline v0
