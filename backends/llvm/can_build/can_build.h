// llvm_can_build: says whether the LLVM backend can generate a kernel, from Plan, Schedule and Target alone. LLVM generates arithmetic on every dtype
// that has arithmetic, and pure moves of every dtype, for x86-64 and AArch64. It never sees a wide accumulation whole: split_wide
// (compiler/rewrite) makes several kernels of it. The reference runs what is declined here.
// Tested by tests/unit/backends/llvm/can_build/can_build_test.cc.
#pragma once

#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// Ok, or `unsupported` with a sentence that names the dtype or node.
Status llvm_can_build(const Plan& plan, const Schedule& schedule, const Target& target);

}  // namespace strew::inline v0
