// halide_can_build: says whether the Halide backend can generate a kernel, from Plan, Schedule and Target alone.
// Tested by tests/unit/backends/halide/halide_test.cc.
#pragma once

#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// Was this libstrew built together with libstrew_halide (STREW_WITH_HALIDE)?
bool has_halide();

/// Ok, or `unsupported` with a sentence that names the tensor, node or knob.
Status halide_can_build(const Plan& plan, const Schedule& schedule, const Target& target);

}  // namespace strew::inline v0
