// check_arithmetic(): what a plan computes is computed by backends that have arithmetic on every dtype that has arithmetic (base/dtype), and pure
// moves of every dtype. check_host_fp(): what is computed in the caller's environment. check_row_values(): the rows that backends with code for values of rows have no code for. Tested by
// tests/unit/backends/llvm/can_build/can_build_test.cc, tests/unit/backends/portable/portable_test.cc and tests/differential.
#pragma once

#include <string_view>

#include "compiler/plan/plan.h"
#include "strew/status.h"
#include "strew/target.h"

namespace strew::inline v0 {

/// Ok, or `unsupported` with the conversion or the node of the combiner that the backend of this name has no code for.
Status check_arithmetic(const Plan& plan, std::string_view backend);
/// Does the kernel compute floats, or convert some?
bool computes_floats(const Plan& plan);
/// Ok, or `unsupported` with the dtype whose own subnormals would be lost in a floating-point environment that flushes those of f32 (Target::host_fp): those
/// that generated code decodes as subnormals of f32.
Status check_host_fp(const Plan& plan, const Target& target, std::string_view backend);
/// Ok, or `unsupported` where rows that have values of their own (row-local ones, results per row) are not one loop.
Status check_row_values(const Plan& plan, std::string_view backend);

}  // namespace strew::inline v0
