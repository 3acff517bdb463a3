// STREW_VERIFY: a call, and the same call on the reference.
#pragma once

#include <span>

#include "runtime/kernel_state.h"

namespace strew::inline v0 {

/// As run_phases; then an internal error with the op's text where the reference's answer or bits differ.
Status run_and_replay(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);

}  // namespace strew::inline v0
