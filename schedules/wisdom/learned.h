// What wisdom says about a plan: the schedule to take in the place of the cost model's choice. Tested by
// tests/unit/schedules/wisdom/wisdom_test.cc.
#pragma once

#include <optional>
#include <string>

#include "compiler/plan/plan.h"
#include "schedules/wisdom/look_up.h"
#include "strew/schedule.h"
#include "strew/target.h"
#include "strew/verified.h"

namespace strew::inline v0 {

struct Learned {
  std::optional<Schedule> schedule;  ///< absent: the cost model decides
  std::string backend;               ///< that the schedule was measured with
  /// How it was found, for people: "exact: …", or "no record of this op …"; empty if there is no wisdom at all.
  std::string from;
};

/// `identity` and its text: of the op. `chosen`: what the cost model chose for calls of `threads` threads. A learned schedule is legal and
/// gives the bits of `chosen`.
Learned learn(const Wisdom& wisdom, const VerifiedOp& identity, const std::string& identity_text, const Plan& plan,
              const Target& target, int threads, const Schedule& chosen);

/// The features by which shapes are compared.
ShapeFeatures shape_features(const Plan& plan);

}  // namespace strew::inline v0
