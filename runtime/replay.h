// Replay: under STREW_VERIFY, runs a call and repeats it on the reference, to find bugs of the code generators.
#pragma once

#include <span>

#include "runtime/kernel_state.h"

namespace strew::inline v0 {

/// Runs the call and returns its status. Fails with Code::internal and the op's text if the reference returns another
/// status or other result bits.
Status run_and_replay(const Kernel::State& state, std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index);

}  // namespace strew::inline v0
