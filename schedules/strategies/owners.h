// What the strategies owner, radix and runs have in common: destinations have keys.
#pragma once

#include "compiler/plan/plan.h"
#include "schedules/schedule.h"

namespace strew {

/// Legal for scatters whose windows coincide or are disjoint (row, element), with whole-byte results of equal, static, non-negative strides
/// (a key is one non-negative offset).
Status legal_owners(const Plan& plan, Strategy strategy);

}  // namespace strew
