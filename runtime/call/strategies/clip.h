// Strategy clip: every thread walks all index positions, in order, and of each window applies what falls into its own range of the
// operand dim that moves the first window loop. For windows that overlap partly, where nothing else keeps the order of updates.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "compiler/plan/plan.h"
#include "schedules/schedule.h"

namespace strew {

/// Ok, or unsupported with the reason: no index moves the first window loop.
Status clip_legal(const Plan& plan);
/// Does a kernel of this schedule have the entry clip? Those of strategy clip, and of the owner strategies where windows could be shared out by
/// columns when a few destinations turn out to be hot.
bool wants_clip(const Plan& plan, const Schedule& schedule);
/// Extent of the operand dim that is shared out (1 where no index moves the first loop), and how much of it lies between two borders of `line_bytes` in
/// the result.
int64_t clip_extent(const Plan& plan, const int64_t* dyn);
int64_t clip_unit(const Plan& plan, const int64_t* dyn, int64_t line_bytes);

}  // namespace strew
