// Raw entries: a kernel's entries called from outside the runtime, as include/strew/abi.h allows it to foreign callers: bound by the product's own
// binder, then check, init, range, keys, list and clip on pieces of the work that no strategy would choose.
#pragma once

#include <span>

#include "strew/kernel.h"
#include "tests/support/rng.h"

namespace strew::test {

/// Does the kernel have entries of its own? Interpreted ones and wide accumulations have none.
bool has_entries(const Kernel& kernel);
/// One call in random pieces: disjoint ones in any order where nothing is combined, in position order where destinations may meet.
Status run_entries(const Kernel& kernel, std::span<const TensorView> tensors, Rng& rng, strew_fault* fault);

}  // namespace strew::test
