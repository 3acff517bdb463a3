// Strategy positions: every thread applies its own chunk of index positions, with the whole window.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "compiler/plan/plan.h"

namespace strew {

/// Ok, or unsupported with the reason: two positions may touch one destination.
Status positions_legal(const Plan& plan);
/// Chunks begin at multiples of this: positions between two borders of `line_bytes` in the result (1 where positions do not lie side by side), or the
/// positions of a slab.
int64_t positions_unit(const Plan& plan, const int64_t* dyn, int64_t line_bytes);

}  // namespace strew
