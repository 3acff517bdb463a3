// quick_key: the key under which Runtime::get looks first. kernel_key (strew/runtime.h), a hash of the op's text, is
// the second key; it takes longer to compute.
#pragma once

#include "strew/op.h"
#include "strew/runtime.h"
#include "strew/text.h"

namespace strew::inline v0 {

/// 128-bit hash of the fields of an op and of the options, computed without printing the op. Equal ops with equal
/// options have equal keys within one process; the key may differ between processes, so nothing may store it.
Hash128 quick_key(const Op& op, const KernelOptions& options);

}  // namespace strew::inline v0
