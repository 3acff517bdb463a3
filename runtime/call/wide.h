// Calls of kernels with wide accumulation: the fold into scratch, then the narrowing (compiler/rewrite/split_wide).
#pragma once

#include <span>

#include "runtime/kernel_state.h"

namespace strew {

/// Bytes one call of a wide scatter borrows: results of `elements` elements each in the wide dtype, on lines of their own.
int64_t wide_scratch_bytes(const Scatter& op, int64_t elements);

/// `tensors` are bound and checked against the original op. The fold checks indices first, so an error leaves the result unwritten.
Status run_wide(const Kernel::State& state, std::span<const TensorView> tensors, strew_fault* fault);

}  // namespace strew
