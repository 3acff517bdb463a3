// Strategy window: every thread walks all index positions, in order, and applies its own chunk of the first window loop.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "compiler/plan/plan.h"

namespace strew {

/// Ok, or unsupported with the reason: windows overlap partly, or have one element.
Status window_legal(const Plan& plan);
/// Iterations of the first window loop between two borders of `line_bytes` in the result.
int64_t window_unit(const Plan& plan, const int64_t* dyn, int64_t line_bytes);

}  // namespace strew
