// The phases of a call: check every index (policy error), initialise the result, apply.
#pragma once

#include <span>

#include "runtime/kernel_state.h"

namespace strew {

/// `call` is bound. out_of_bounds: nothing was written, `fault` (if given) is filled.
Status run_phases(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, strew_fault* fault);

}  // namespace strew
