// What the LLVM backend can generate, decided from Plan, Schedule and Target alone.
#pragma once

#include "base/status.h"
#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "schedules/target.h"

namespace strew {

/// Ok, or unsupported with a sentence that names the dtype or node.
Status llvm_can_build(const Plan& plan, const Schedule& schedule, const Target& target);

}  // namespace strew
