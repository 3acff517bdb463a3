// Calls of kernels with wide accumulation: the fold into scratch, then the narrowing (compiler/rewrite/split_wide).
#pragma once

#include <span>

#include "runtime/call/callable.h"

namespace strew {

/// Bytes one call borrows: results of `elements` elements each in the wide dtype, on lines of their own.
int64_t wide_scratch_bytes(const strew_kernel& kernel, int64_t elements);

/// `tensors` are bound to the whole kernel. The fold checks indices first, so an error leaves the result unwritten.
Status run_wide(const Callable& callable, std::span<const TensorView> tensors, strew_fault* fault);

}  // namespace strew
