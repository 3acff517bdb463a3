// Targets within the compiler: a target's features as a set, and targets of another machine than this one.
#pragma once

#include <string_view>

#include "base/cpus.h"
#include "base/machine.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// parse_target() with `machine` in the place of this machine, for tests.
Expected<Target> parse_target(std::string_view text, const Machine& machine);
/// The target's features: those of its CPU with the added ones and without the removed ones.
STREW_API FeatureSet features_of(const Target& target);

}  // namespace strew::inline v0
