// What the strategies owner, radix and runs share: the rule of legality, that destinations must have keys, and how evenly owners share.
#pragma once

#include "compiler/plan/plan.h"
#include "schedules/costs/predict.h"
#include "schedules/schedule.h"

namespace strew::inline v0 {

/// Ok for scatters whose windows coincide or are disjoint (plan kinds row and element) and whose results have
/// whole-byte elements and equal, static, non-negative strides: then a destination's offset is its key.
Status legal_owners(const Plan& plan, Strategy strategy);
/// The part of the updates that the owner with the most of them has, if destinations are equally likely: with small tables there are
/// fewer pieces than threads.
double owned_share(const CostQuestion& question);

}  // namespace strew::inline v0
