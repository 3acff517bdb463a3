// check_arithmetic(): what a plan computes is computed by backends that have arithmetic on every dtype that has arithmetic (base/dtype), and pure
// moves of every dtype. Tested by tests/unit/backends/llvm/can_build/can_build_test.cc and tests/unit/backends/portable/portable_test.cc.
#pragma once

#include <string_view>

#include "compiler/plan/plan.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Ok, or `unsupported` with the conversion or the node of the combiner that the backend of this name has no code for.
Status check_arithmetic(const Plan& plan, std::string_view backend);

}  // namespace strew::inline v0
